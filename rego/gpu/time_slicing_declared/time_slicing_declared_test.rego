package gpu.time_slicing_declared_test

import data.gpu.time_slicing_declared as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

configuration(text) := {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"any": text}}

sharing(settings) := configuration(yaml.marshal({"version": "v1", "sharing": {"timeSlicing": settings}}))

gpus := [{"name": "nvidia.com/gpu", "replicas": 4}]

bad := sharing({"resources": gpus})

messages(object) := {violation.message | some violation in rule.violations with input as object}

renamed_missing := "nvidia.com/gpu is time-sliced under the name of a whole device"

refusal_missing := "a request for more than one share is given no more than one"

test_fails_on_both if {
	messages(bad) == {renamed_missing, refusal_missing}
	paths(bad) == {["data", "any"]}
}

test_fails_on_each if {
	messages(sharing({"failRequestsGreaterThanOne": true, "resources": gpus})) == {renamed_missing}
	messages(sharing({"renameByDefault": true, "resources": gpus})) == {refusal_missing}
	messages(sharing({"renameByDefault": "yes", "failRequestsGreaterThanOne": true, "resources": gpus})) == {renamed_missing}
}

test_passes_when_declared if {
	outcome(sharing({"renameByDefault": true, "failRequestsGreaterThanOne": true, "resources": gpus})) == "pass"
	renamed := [{"name": "nvidia.com/gpu", "rename": "nvidia.com/gpu.shared", "replicas": 4}]
	outcome(sharing({"failRequestsGreaterThanOne": true, "resources": renamed})) == "pass"
}

test_no_resources_shared if {
	outcome(sharing({"failRequestsGreaterThanOne": true})) == "pass"
}

test_does_not_apply_to_other_configuration if {
	outcome(configuration("sharing: {mps: {resources: []}}")) == "skip"
	outcome(configuration("timeSlicing is off")) == "skip"
	outcome(configuration("timeSlicing: [broken")) == "skip"
	every path in [["data"], ["data", "any"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged({"renameByDefault": true, "resources": gpus}) {
		outcome(sharing(variant)) in {"skip", "pass", "fail"}
	}
}
