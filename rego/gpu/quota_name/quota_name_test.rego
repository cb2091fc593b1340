package gpu.quota_name_test

import data.gpu.quota_name as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

quota(hard) := {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}

bad := quota({"nvidia.com/gpu": "8", "requests.nvidia.com/gpu": "8"})

test_fails_without_the_prefix if {
	paths(bad) == {["spec", "hard", "nvidia.com/gpu"]}
	outcome(quota({"limits.nvidia.com/gpu": "8"})) == "fail"
	outcome(quota({"amd.com/gpu": "8"})) == "fail"
	outcome(quota({"nvidia.com/mig-1g.10gb": "8"})) == "fail"
}

test_expects_the_right_name if {
	some violation in rule.violations with input as bad
	violation.expected == "requests.nvidia.com/gpu"
}

test_passes_with_it if {
	outcome(quota({"requests.nvidia.com/gpu": "8", "pods": "10"})) == "pass"
}

test_does_not_apply_without_gpu if {
	outcome(quota({"requests.cpu": "8", "example.test/widget": "1"})) == "skip"
	every path in [["spec"], ["spec", "hard"]] {
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
