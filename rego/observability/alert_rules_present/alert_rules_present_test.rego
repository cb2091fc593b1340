package observability.alert_rules_present_test

import data.lib.expect
import data.observability.alert_rules_present as rule

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

cluster := {"apiVersion": "fleetaudit.dev/v1", "kind": "Cluster", "metadata": {"name": "east"}}

test_does_not_apply_to_another_kind if {
	every variant in expect.without(cluster, ["kind"]) {
		outcome(variant, {}) == "skip"
	}
}

rules(groups) := {"monitoring.coreos.com/PrometheusRule": {"serving": [{"metadata": {"name": "slo"}, "spec": {"groups": groups}}]}}

alerting := rules([{"rules": [{}, {"alert": "SlowAnswers"}]}])

test_fails_without_alerts if {
	outcome(cluster, {}) == "fail"
	outcome(cluster, rules([])) == "fail"
	outcome(cluster, rules([{"rules": [{}]}])) == "fail"
	some violation in rule.violations with input as cluster with data.inventory as rules([])
	violation.path == ["metadata", "name"]
	violation.seen == "1 PrometheusRules"
}

test_passes_with_an_alert if {
	outcome(cluster, alerting) == "pass"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(alerting["monitoring.coreos.com/PrometheusRule"].serving[0]) {
		outcome(cluster, {"monitoring.coreos.com/PrometheusRule": {"serving": [variant]}}) in {"pass", "fail"}
	}
	every variant in expect.damaged(cluster) {
		outcome(variant, alerting) in {"skip", "pass"}
	}
}

test_fails_where_the_alert_has_no_name if {
	every variant in expect.without(
		alerting["monitoring.coreos.com/PrometheusRule"].serving[0],
		["spec", "groups", 0, "rules", 1, "alert"],
	) {
		outcome(cluster, {"monitoring.coreos.com/PrometheusRule": {"serving": [variant]}}) == "fail"
	}
}
