# METADATA
# scope: package
# title: Model servers are scraped for metrics
# description: |
#   Latency, queue length, cache use and errors of a server are seen only when Prometheus scrapes it: a PodMonitor selects its
#   pods, a ServiceMonitor selects a Service in front of them, or an annotation asks for it. A monitor without endpoints scrapes
#   nothing.
# related_resources:
# - ref: https://prometheus-operator.dev/docs/developer/getting-started/
# - ref: https://docs.vllm.ai/en/latest/usage/metrics.html
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_model_server
#   remediation: Add a PodMonitor that selects the server's pods and names its metrics port.
#   fix: |
#     apiVersion: monitoring.coreos.com/v1
#     kind: PodMonitor
#     metadata:
#       name: vllm
#     spec:
#       selector:
#         matchLabels:
#           app: vllm
#       podMetricsEndpoints:
#       - port: http
#   context:
#   - kinds: [Service]
#     fields: [spec.selector]
#   - group: monitoring.coreos.com
#     kinds: [ServiceMonitor, PodMonitor]
#     fields: [spec.selector, spec.namespaceSelector, spec.endpoints, spec.podMetricsEndpoints]
#   - group: monitoring.googleapis.com
#     kinds: [PodMonitoring]
#     fields: [spec.selector, spec.endpoints]
package model.serving_monitored

import data.lib.model_server
import data.lib.network
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if {
	count(model_server.servers) > 0
	not workload.kind_key in deployed_elsewhere
}

# A runtime is deployed by the object that uses it.
deployed_elsewhere := {
	"PodTemplate",
	"serving.kserve.io/ServingRuntime",
	"serving.kserve.io/ClusterServingRuntime",
	"serving.kserve.io/LLMInferenceServiceConfig",
}

violations contains violation if {
	applies
	not asks(obj.annotations)
	some template in model_server.serving_templates
	not asks(obj.mapping(template.metadata, ["annotations"]))
	not scraped(network.pod_labels(template))
	violation := {
		"path": network.labels_path(template),
		"message": "nothing scrapes the model server",
		"seen": object.get(template.metadata, "labels", null),
		"expected": "a PodMonitor or ServiceMonitor that selects it",
	}
}

default asks(_) := false

asks(annotations) if {
	some key in data.parameters["model/serving-monitored"].annotations
	value := object.get(annotations, key, "")
	not workload.empty[value]
	not lower(sprintf("%v", [value])) in {"false", "0", "no", "off"}
}

default scraped(_) := false

scraped(labels) if {
	some monitor in obj.everywhere("monitoring.coreos.com/PodMonitor")
	count(obj.list(monitor, ["spec", "podMetricsEndpoints"])) > 0
	looks_here(monitor)
	obj.selects(obj.get(monitor, ["spec", "selector"], null), labels)
}

scraped(labels) if {
	some monitor in obj.in_namespace("monitoring.googleapis.com/PodMonitoring", obj.namespace)
	count(obj.list(monitor, ["spec", "endpoints"])) > 0
	obj.selects(obj.get(monitor, ["spec", "selector"], null), labels)
}

scraped(labels) if {
	some service in obj.in_namespace("Service", obj.namespace)
	network.service_selects(service, labels)
	watched(service)
}

watched(service) if asks(obj.mapping(service, ["metadata", "annotations"]))

watched(service) if {
	some monitor in obj.everywhere("monitoring.coreos.com/ServiceMonitor")
	count(obj.list(monitor, ["spec", "endpoints"])) > 0
	looks_here(monitor)
	obj.selects(obj.get(monitor, ["spec", "selector"], null), obj.mapping(service, ["metadata", "labels"]))
}

# Without a namespaceSelector a monitor looks into its own namespace.
looks_here(monitor) if monitor.spec.namespaceSelector.any == true

looks_here(monitor) if obj.namespace in obj.list(monitor, ["spec", "namespaceSelector", "matchNames"])

looks_here(monitor) if {
	count(obj.list(monitor, ["spec", "namespaceSelector", "matchNames"])) == 0
	obj.get(monitor, ["spec", "namespaceSelector", "any"], false) != true
	same_namespace(obj.text(monitor, ["metadata", "namespace"]))
}

same_namespace(namespace) if namespace == obj.namespace

same_namespace(namespace) if {
	namespace in {"", "default"}
	obj.namespace in {"", "default"}
}
