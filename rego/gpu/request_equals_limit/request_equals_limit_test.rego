package gpu.request_equals_limit_test

import data.gpu.request_equals_limit as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

bad := pod([asks({"requests": {"nvidia.com/gpu": 1}})])

both(request, limit) := pod([asks({"requests": {"nvidia.com/gpu": request}, "limits": {"nvidia.com/gpu": limit}})])

test_fails_without_limit if {
	paths(bad) == {["spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]}
	outcome(pod([asks({"requests": {"nvidia.com/gpu": 0}})])) == "fail"
	every variant in expect.without(both(1, 1), ["spec", "containers", 0, "resources", "limits"]) {
		outcome(variant) == "fail"
	}
	every variant in expect.without(both(1, 1), ["spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]) {
		outcome(variant) in {"fail"}
	}
}

test_fails_when_unequal if {
	paths(both("6", "8")) == {["spec", "containers", 0, "resources", "requests", "nvidia.com/gpu"]}
	outcome(both(0, 1)) == "fail"
}

test_passes_when_equal_however_spelled if {
	outcome(both("8", 8)) == "pass"
	outcome(both("2000m", 2)) == "pass"
	outcome(both("1k", 1000)) == "pass"
}

test_passes_with_limits_alone if {
	outcome(pod([asks({"limits": {"nvidia.com/gpu": 1}})])) == "pass"
	every variant in expect.without(both(1, 1), ["spec", "containers", 0, "resources", "requests"]) {
		outcome(variant) == "pass"
	}
	every variant in expect.without(both(1, 1), ["spec", "containers", 0, "resources", "requests", "nvidia.com/gpu"]) {
		outcome(variant) == "pass"
	}
}

test_other_vendors_and_names if {
	every name in [
		"amd.com/gpu",
		"gpu.intel.com/i915",
		"nvidia.com/mig-1g.10gb",
		"nvidia.com/gpu.shared",
		"huawei.com/Ascend910",
		"cambricon.com/mlu",
	] {
		outcome(pod([asks({"requests": {name: 1}})])) == "fail"
	}
}

test_init_containers_and_custom_resources if {
	init := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"initContainers": [asks({"requests": {"amd.com/gpu": 1}})]}}
	paths(init) == {["spec", "initContainers", 0, "resources", "limits", "amd.com/gpu"]}
	ray := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": {"workerGroupSpecs": [{"template": {"spec": bad.spec}}]}}
	paths(ray) == {[
		"spec",
		"workerGroupSpecs",
		0,
		"template",
		"spec",
		"containers",
		0,
		"resources",
		"limits",
		"nvidia.com/gpu",
	]}
	kserve := {
		"apiVersion": "serving.kserve.io/v1beta1",
		"kind": "InferenceService",
		"metadata": {"name": "i"},
		"spec": {"predictor": {"model": {"resources": {"requests": {"nvidia.com/gpu": 1}}}}},
	}
	paths(kserve) == {["spec", "predictor", "model", "resources", "limits", "nvidia.com/gpu"]}
}

test_added_vendor if {
	object := pod([asks({"requests": {"vendor.example/npu": 1}})])
	outcome(object) == "skip"
	outcome(object) == "fail" with data.parameters["gpu/request-equals-limit"].more_devices as ["vendor.example/*"]
}

test_names_the_container if {
	some violation in rule.violations with input as bad
	violation.container == "c"
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
