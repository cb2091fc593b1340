# METADATA
# scope: package
# title: Each cluster has alerts
# description: |
#   Metrics that nobody is told about change nothing. At least one PrometheusRule of the cluster must hold an alert; rules that
#   only record do not count.
# related_resources:
# - ref: https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
# - ref: https://prometheus-operator.dev/docs/developer/alerting/
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: fleetaudit.dev
#       kinds: [Cluster]
#     derived: true
#   not_applicable: not_a_cluster
#   remediation: Add a PrometheusRule with alerts on the service objectives of the model servers and on the health of the GPUs.
#   fix: |
#     apiVersion: monitoring.coreos.com/v1
#     kind: PrometheusRule
#     metadata:
#       name: serving-slo
#     spec:
#       groups:
#       - name: serving
#         rules:
#         - alert: SlowAnswers
#           expr: histogram_quantile(0.95, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[5m]))) > 1.2
#   context:
#   - group: monitoring.coreos.com
#     kinds: [PrometheusRule]
#     fields: [spec.groups.rules.alert]
package observability.alert_rules_present

import data.lib.object as obj

default applies := false

applies if input.kind == "Cluster"

violations contains violation if {
	applies
	not alerted
	violation := {
		"path": ["metadata", "name"],
		"message": "no PrometheusRule of the cluster holds an alert",
		"seen": sprintf("%d PrometheusRules", [count(obj.everywhere("monitoring.coreos.com/PrometheusRule"))]),
		"expected": "a PrometheusRule with an alert",
	}
}

default alerted := false

alerted if {
	some item in obj.everywhere("monitoring.coreos.com/PrometheusRule")
	some group in obj.list(item, ["spec", "groups"])
	some rule in obj.list(group, ["rules"])
	obj.text(rule, ["alert"]) != ""
}
