package gpu.mig_resource_names_test

import data.gpu.mig_resource_names as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

limits(name) := pod([asks({"limits": {name: 1}})])

bad := limits("nvidia.com/mig-1g.10g")

test_fails_on_names_no_node_offers if {
	paths(bad) == {["spec", "containers", 0, "resources", "limits", "nvidia.com/mig-1g.10g"]}
	every name in [
		"nvidia.com/mig-3g.10gb",
		"nvidia.com/mig-5g.40gb",
		"nvidia.com/MIG-1g.10gb",
		"nvidia.com/mig_1g.10gb",
		"nvidia.com/mig-1g.10gb+me",
		"nvidia.com/1g.10gb",
		"nvidia.com/mig",
	] {
		outcome(limits(name)) == "fail"
	}
}

test_passes_on_profiles if {
	every name in [
		"nvidia.com/mig-1g.10gb",
		"nvidia.com/mig-3g.40gb",
		"nvidia.com/mig-7g.141gb",
		"nvidia.com/mig-1g.5gb.me",
		"nvidia.com/mig-1g.10gb.shared",
		"nvidia.com/mig-1g.24gb.me.all",
	] {
		outcome(limits(name)) == "pass"
	}
}

test_both_lists_are_read if {
	name := "nvidia.com/mig-1g.10g"
	count(paths(pod([asks({"limits": {name: 1}, "requests": {name: 1}})]))) == 2
}

test_added_profile if {
	outcome(limits("nvidia.com/mig-1g.99gb")) == "fail"
	outcome(limits("nvidia.com/mig-1g.99gb")) == "pass" with data.parameters["gpu/mig-resource-names"].profiles as ["1g.99gb"]
}

test_does_not_apply_to_whole_gpus if {
	outcome(limits("nvidia.com/gpu")) == "skip"
	outcome(pod([])) == "skip"
	every path in [["spec"], ["spec", "containers"], ["spec", "containers", 0, "resources"], ["spec", "containers", 0, "resources", "limits"]] {
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
