package gpu.runtime_class_test

import data.gpu.runtime_class as rule
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

named(class) := expect.replaced(bad, ["spec", "runtimeClassName"], class)

test_fails_without if {
	paths(bad) == {["spec", "runtimeClassName"]}
	every variant in expect.without(named("nvidia"), ["spec", "runtimeClassName"]) {
		outcome(variant) == "fail"
	}
}

test_fails_on_one_without_gpus if {
	outcome(named("runc")) == "fail"
}

test_passes_on_known_ones if {
	outcome(named("nvidia")) == "pass"
	outcome(named("kata-qemu-nvidia-gpu-snp")) == "pass"
}

test_added_class if {
	outcome(named("own")) == "pass" with data.parameters["gpu/runtime-class"].classes as ["own"]
}

test_other_vendors_are_not_asked if {
	outcome(pod([asks({"limits": {"amd.com/gpu": 1}})])) == "skip"
}

test_init_container_alone if {
	paths({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"initContainers": [gpu]}}) == {["spec", "runtimeClassName"]}
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
