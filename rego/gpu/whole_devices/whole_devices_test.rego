package gpu.whole_devices_test

import data.gpu.whole_devices as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

limits(value) := pod([asks({"limits": {"nvidia.com/gpu": value}})])

bad := limits(0.5)

test_fails_on_parts if {
	paths(bad) == {["spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]}
	every value in ["500m", "0.5", 1.5, "1500m", "-1", -1, "one", "", true, [1], "1 "] {
		outcome(limits(value)) in {"fail", "skip"}
	}
	every value in ["500m", "0.5", 1.5, "1500m", "-1", -1, "one", true, [1], "1 "] {
		outcome(limits(value)) == "fail"
	}
}

test_fails_on_requests_too if {
	paths(pod([asks({"requests": {"nvidia.com/gpu": "500m"}, "limits": {"nvidia.com/gpu": 1}})])) == {["spec", "containers", 0, "resources", "requests", "nvidia.com/gpu"]}
}

test_passes_on_whole_numbers if {
	every value in [0, 1, "8", "2000m", 2.0, "1k", "1e1"] {
		outcome(limits(value)) == "pass"
	}
}

test_slices_are_whole_too if {
	outcome(pod([asks({"limits": {"nvidia.com/mig-3g.40gb": 2}})])) == "pass"
	outcome(pod([asks({"limits": {"nvidia.com/mig-3g.40gb": "500m"}})])) == "fail"
}

test_missing_value_is_no_claim if {
	every variant in expect.without(bad, ["spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]) {
		outcome(variant) == "skip"
	}
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
