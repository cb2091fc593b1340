package policy.enforce_mode_test

import data.lib.expect
import data.policy.enforce_mode as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

classic(spec) := {"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": spec}

validates := {"name": "r", "validate": {"message": "m", "pattern": {}}}

says(action) := {"name": "r", "validate": {"message": "m", "pattern": {}, "failureAction": action}}

bad := classic({"validationFailureAction": "Audit", "rules": [validates]})

binding(actions) := {
	"apiVersion": "admissionregistration.k8s.io/v1",
	"kind": "ValidatingAdmissionPolicyBinding",
	"metadata": {"name": "b"},
	"spec": {"policyName": "p", "validationActions": actions},
}

modern(spec) := {"apiVersion": "policies.kyverno.io/v1", "kind": "ValidatingPolicy", "metadata": {"name": "p"}, "spec": object.union(
	{"validations": [{"expression": "object.spec.hostNetwork != true"}]},
	spec,
)}

test_fails_where_the_policy_audits if {
	paths(bad) == {["spec", "validationFailureAction"]}
	outcome(classic({"validationFailureAction": "audit", "rules": [validates]})) == "fail"
}

test_audit_is_the_default if {
	every variant in expect.without(bad, ["spec", "validationFailureAction"]) {
		paths(variant) == {["spec", "rules", 0, "validate", "failureAction"]}
	}
}

test_both_spellings_of_enforce if {
	outcome(classic({"validationFailureAction": "enforce", "rules": [validates]})) == "pass"
	outcome(classic({"validationFailureAction": "Enforce", "rules": [validates]})) == "pass"
}

test_rules_say_it_one_by_one if {
	outcome(classic({"rules": [says("Enforce")]})) == "pass"
	paths(classic({"validationFailureAction": "Enforce", "rules": [says("Enforce"), says("Audit")]})) == {["spec", "rules", 1, "validate", "failureAction"]}
	outcome(classic({"validationFailureAction": "Audit", "rules": [says("Enforce")]})) == "pass"
}

verifies(action) := {"name": "r", "verifyImages": [{"imageReferences": ["*"], "failureAction": action}]}

test_image_verification if {
	outcome(classic({"rules": [verifies("Enforce")]})) == "pass"
	paths(classic({"rules": [verifies("Audit")]})) == {["spec", "rules", 0, "verifyImages", 0, "failureAction"]}
}

test_overrides if {
	overridden := classic({
		"validationFailureAction": "Enforce",
		"validationFailureActionOverrides": [{"action": "audit", "namespaces": ["dev"]}],
		"rules": [validates],
	})
	paths(overridden) == {["spec", "validationFailureActionOverrides", 0, "action"]}
	in_rule := object.union(says("Enforce"), {"validate": {"failureActionOverrides": [{"action": "Audit", "namespaces": ["dev"]}]}})
	paths(classic({"rules": [in_rule]})) == {["spec", "rules", 0, "validate", "failureActionOverrides", 0, "action"]}
	outcome(expect.replaced(overridden, ["spec", "validationFailureActionOverrides", 0, "action"], "Enforce")) == "pass"
}

test_admission_switched_off if {
	paths(classic({"admission": false, "rules": [says("Enforce")]})) == {["spec", "admission"]}
}

test_bindings if {
	outcome(binding(["Deny", "Audit"])) == "pass"
	paths(binding(["Warn", "Audit"])) == {["spec", "validationActions"]}
	every variant in expect.without(binding(["Deny"]), ["spec", "validationActions"]) {
		outcome(variant) == "fail"
	}
}

test_newer_kyverno_denies_by_default if {
	outcome(modern({})) == "pass"
	outcome(modern({"validationActions": ["Deny"]})) == "pass"
	outcome(modern({"validationActions": ["Audit"]})) == "fail"
	paths(modern({"evaluation": {"admission": {"enabled": false}}})) == {["spec", "evaluation", "admission", "enabled"]}
}

test_does_not_apply_to_what_validates_nothing if {
	outcome(classic({"rules": [{"name": "r", "mutate": {"patchStrategicMerge": {}}}]})) == "skip"
	every path in [["spec"], ["spec", "rules"], ["spec", "rules", 0, "validate"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_does_not_apply_to_what_checks_nothing if {
	outcome(classic({"validationFailureAction": "Enforce", "rules": [{"name": "r", "validate": {"message": "m", "failureAction": "Enforce"}}]})) == "skip"
	every validations in [null, [], [{}], [{"expression": "true"}], [{"expression": ""}]] {
		outcome(modern({"validations": validations})) == "skip"
	}
	every variant in expect.without(modern({}), ["spec"]) {
		outcome(variant) == "skip"
	}
}

test_answers_whatever_is_damaged_in_others if {
	every object in [binding(["Warn"]), modern({"evaluation": {"admission": {"enabled": false}}})] {
		every variant in expect.damaged(object) {
			outcome(variant) in {"skip", "pass", "fail"}
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
