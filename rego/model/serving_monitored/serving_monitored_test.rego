package model.serving_monitored_test

import data.lib.expect
import data.model.serving_monitored as rule

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

server := {
	"apiVersion": "apps/v1",
	"kind": "Deployment",
	"metadata": {"name": "vllm", "namespace": "serving"},
	"spec": {"template": {
		"metadata": {"labels": {"app": "vllm", "tier": "gpu"}},
		"spec": {"containers": [{"name": "c", "image": "vllm/vllm-openai:v0.11.0"}]},
	}},
}

named(kind, spec) := {
	"apiVersion": "v1",
	"kind": kind,
	"metadata": {"name": "front", "namespace": "serving"},
	"spec": spec,
}

pod_monitor(selector) := {"monitoring.coreos.com/PodMonitor": {"serving": [named("PodMonitor", {"selector": selector, "podMetricsEndpoints": [{"port": "http"}]})]}}

service := object.union(
	named("Service", {"selector": {"app": "vllm"}}),
	{"metadata": {"labels": {"scrape": "yes"}}},
)

service_monitor(selector) := {
	"Service": {"serving": [service]},
	"monitoring.coreos.com/ServiceMonitor": {"serving": [named("ServiceMonitor", {"selector": selector, "endpoints": [{"port": "http"}]})]},
}

from_elsewhere(namespaces) := {"monitoring.coreos.com/PodMonitor": {"monitoring": [object.union(
	named("PodMonitor", {"selector": {"matchLabels": {"app": "vllm"}}, "namespaceSelector": namespaces, "podMetricsEndpoints": [{"port": "http"}]}),
	{"metadata": {"namespace": "monitoring"}},
)]}}

test_fails_when_nothing_scrapes if {
	outcome(server, {}) == "fail"
	outcome(server, pod_monitor({"matchLabels": {"app": "other"}})) == "fail"
	outcome(server, service_monitor({"matchLabels": {"scrape": "no"}})) == "fail"
	some violation in rule.violations with input as server with data.inventory as {}
	violation.path == ["spec", "template", "metadata", "labels"]
}

test_passes_with_monitors if {
	outcome(server, pod_monitor({"matchLabels": {"app": "vllm"}})) == "pass"
	outcome(server, pod_monitor({})) == "pass"
	outcome(server, service_monitor({"matchLabels": {"scrape": "yes"}})) == "pass"
	outcome(server, {"monitoring.googleapis.com/PodMonitoring": {"serving": [named("PodMonitoring", {"selector": {"matchLabels": {"app": "vllm"}}, "endpoints": [{"port": "http"}]})]}}) == "pass"
}

test_monitor_without_endpoints_scrapes_nothing if {
	key := "monitoring.coreos.com/PodMonitor"
	every variant in expect.without(pod_monitor({}), [key, "serving", 0, "spec", "podMetricsEndpoints"]) {
		outcome(server, variant) == "fail"
	}
	every variant in expect.without(service_monitor({}), ["monitoring.coreos.com/ServiceMonitor", "serving", 0, "spec", "endpoints"]) {
		outcome(server, variant) == "fail"
	}
}

test_monitor_without_selector_selects_nothing if {
	outcome(server, pod_monitor(null)) == "fail"
}

test_namespaces_of_a_monitor if {
	outcome(server, from_elsewhere({"any": true})) == "pass"
	outcome(server, from_elsewhere({"matchNames": ["serving"]})) == "pass"
	outcome(server, from_elsewhere({"matchNames": ["research"]})) == "fail"
	outcome(server, from_elsewhere({})) == "fail"
}

test_passes_with_annotations if {
	outcome(expect.replaced(server, ["spec", "template", "metadata", "annotations"], {"prometheus.io/scrape": "true"}), {}) == "pass"
	outcome(expect.replaced(server, ["spec", "template", "metadata", "annotations"], {"prometheus.io/scrape": "false"}), {}) == "fail"
	annotated := object.union(service, {"metadata": {"annotations": {"prometheus.io/scrape": "true"}}})
	outcome(server, {"Service": {"serving": [annotated]}}) == "pass"
}

test_labels_decide if {
	every path in [["spec", "template", "metadata"], ["spec", "template", "metadata", "labels"]] {
		every variant in expect.without(server, path) {
			outcome(variant, pod_monitor({"matchLabels": {"app": "vllm"}})) == "fail"
		}
	}
}

test_does_not_apply_without_model_server if {
	every variant in expect.without(server, ["spec", "template", "spec", "containers", 0, "image"]) {
		outcome(variant, {}) == "skip"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(server) {
		outcome(variant, pod_monitor({"matchLabels": {"app": "vllm"}})) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged(from_elsewhere({"matchNames": ["serving"]})["monitoring.coreos.com/PodMonitor"].monitoring[0]) {
		outcome(server, {"monitoring.coreos.com/PodMonitor": {"monitoring": [variant]}}) in {"pass", "fail"}
	}
}
