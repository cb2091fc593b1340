package policy.admission_present_test

import data.lib.expect
import data.policy.admission_present as rule

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

policy(kind) := {kind: {"": [{"metadata": {"name": "p"}}]}}

test_fails_without_policies if {
	outcome(cluster, {}) == "fail"
	outcome(cluster, {kind: {} | some kind in rule.kinds}) == "fail"
	outcome(cluster, {"kyverno.io/ClusterPolicy": {"": []}}) == "fail"
	some violation in rule.violations with input as cluster with data.inventory as {}
	violation.path == ["metadata", "name"]
}

test_passes_with_any_engine if {
	every kind in rule.kinds {
		outcome(cluster, policy(kind)) == "pass"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(cluster) {
		outcome(variant, {}) in {"skip", "fail"}
	}
}
