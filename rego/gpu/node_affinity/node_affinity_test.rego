package gpu.node_affinity_test

import data.gpu.node_affinity as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

gpu := asks({"limits": {"nvidia.com/gpu": 1}})

bad := pod([gpu])

with_field(field, value) := expect.replaced(bad, ["spec", field], value)

affinity(terms) := with_field("affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})

on(key, operator) := {"matchExpressions": [{"key": key, "operator": operator}]}

test_fails_without_any if {
	paths(bad) == {["spec", "nodeSelector"]}
}

test_passes_with_a_selector if {
	selected := with_field("nodeSelector", {"nvidia.com/gpu.present": "true"})
	outcome(selected) == "pass"
	outcome(with_field("nodeSelector", {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"})) == "pass"
	outcome(with_field("nodeSelector", {"zone": "a"})) == "fail"
	outcome(with_field("nodeSelector", {"nvidia.com/gpu.present": "false"})) == "fail"
	every variant in expect.without(selected, ["spec", "nodeSelector"]) {
		outcome(variant) == "fail"
	}
}

test_passes_with_a_toleration if {
	tolerant := with_field("tolerations", [{"key": "nvidia.com/gpu", "operator": "Exists"}])
	outcome(tolerant) == "pass"
	outcome(with_field("tolerations", [{"operator": "Exists"}])) == "fail"
	every path in [["spec", "tolerations"], ["spec", "tolerations", 0, "key"]] {
		every variant in expect.without(tolerant, path) {
			outcome(variant) == "fail"
		}
	}
}

test_each_alternative_of_an_affinity_counts if {
	outcome(affinity([on("nvidia.com/gpu.product", "In")])) == "pass"
	outcome(affinity([on("nvidia.com/gpu.product", "In"), on("zone", "In")])) == "fail"
	outcome(affinity([on("nvidia.com/gpu.present", "DoesNotExist")])) == "fail"
	outcome(affinity([])) == "fail"
	absent := {"matchExpressions": [{"key": "nvidia.com/gpu.present", "operator": "In", "values": ["false"]}]}
	outcome(affinity([absent])) == "fail"
	every path in [
		["spec", "affinity"],
		["spec", "affinity", "nodeAffinity"],
		["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
	] {
		every variant in expect.without(affinity([on("nvidia.com/gpu.product", "In")]), path) {
			outcome(variant) == "fail"
		}
	}
}

test_preference_does_not_count if {
	preferred := {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"preference": on("nvidia.com/gpu.present", "Exists")}]}}
	outcome(with_field("affinity", preferred)) == "fail"
}

test_another_label if {
	labelled := with_field("nodeSelector", {"pool": "gpu"})
	outcome(labelled) == "fail"
	outcome(labelled) == "pass" with data.parameters["gpu/node-affinity"].labels as ["pool"]
}

test_does_not_apply_to_zero_devices if {
	outcome(pod([asks({"limits": {"nvidia.com/gpu": 0}})])) == "skip"
}

test_does_not_apply_without_gpu if {
	outcome(pod([asks({"limits": {"cpu": 1, "example.test/widget": 1}})])) == "skip"
	outcome(pod([])) == "skip"
	every path in [["spec"], ["spec", "containers"], ["spec", "containers", 0, "resources"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
