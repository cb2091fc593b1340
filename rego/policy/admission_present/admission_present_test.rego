package policy.admission_present_test

import data.lib.expect
import data.policy.admission_present as rule

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

of(inventory) := outcome(cluster, inventory)

cluster := {"apiVersion": "fleetaudit.dev/v1", "kind": "Cluster", "metadata": {"name": "east"}}

inventory(objects) := {kind: {"": found} |
	some kind in {object.kind_key | some object in objects}
	found := [object.value | some object in objects; object.kind_key == kind]
}

item(kind_key, spec) := named(kind_key, "p", spec)

named(kind_key, name, spec) := {"kind_key": kind_key, "value": {
	"kind": split(kind_key, "/")[1],
	"metadata": {"name": name},
	"spec": spec,
}}

# ---- Kyverno's ClusterPolicy

cluster_policy(spec) := inventory([item("kyverno.io/ClusterPolicy", spec)])

validates(action) := {"name": "r", "validate": {"message": "m", "failureAction": action, "pattern": {"spec": {}}}}

enforcing := cluster_policy({"rules": [validates("Enforce")]})

test_cluster_policy_that_refuses if {
	every spec in [
		{"rules": [validates("Enforce")]},
		{"rules": [validates("Audit"), validates("Enforce")]},
		{"validationFailureAction": "enforce", "rules": [{"name": "r", "validate": {"deny": {}}}]},
		{"validationFailureAction": "Audit", "rules": [validates("Enforce")]},
		{"rules": [{"name": "r", "verifyImages": [{"imageReferences": ["*"], "failureAction": "Enforce"}]}]},
		{
			"validationFailureAction": "Audit",
			"validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["*"]}],
			"rules": [{"name": "r", "validate": {"cel": {}}}],
		},
		{
			"validationFailureAction": "Enforce",
			"validationFailureActionOverrides": [{"action": "Audit", "namespaces": ["dev"]}],
			"rules": [{"name": "r", "validate": {"podSecurity": {"level": "baseline"}}}],
		},
	] {
		of(cluster_policy(spec)) == "pass"
	}
}

test_cluster_policy_that_refuses_nothing if {
	every spec in [
		{},
		{"validationFailureAction": "Enforce"},
		{"validationFailureAction": "Enforce", "rules": []},
		{"validationFailureAction": "Enforce", "rules": [{"name": "r", "mutate": {"patchStrategicMerge": {}}}]},
		{"validationFailureAction": "Enforce", "rules": [{"name": "r", "generate": {"kind": "NetworkPolicy"}}]},
		{"validationFailureAction": "Enforce", "rules": [{"name": "r", "validate": {"message": "m"}}]},
		{"validationFailureAction": "Audit", "rules": [{"name": "r", "validate": {"pattern": {}}}]},
		{"rules": [{"name": "r", "validate": {"pattern": {}}}]},
		{"rules": [validates("Audit")]},
		{"admission": false, "rules": [validates("Enforce")]},
		{"rules": [{"name": "r", "verifyImages": [{"imageReferences": ["*"]}]}]},
		{
			"validationFailureAction": "Enforce",
			"validationFailureActionOverrides": [{"action": "Audit", "namespaces": ["*"]}],
			"rules": [{"name": "r", "validate": {"pattern": {}}}],
		},
		{
			"validationFailureAction": "Audit",
			"validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["dev"]}],
			"rules": [{"name": "r", "validate": {"pattern": {}}}],
		},
	] {
		of(cluster_policy(spec)) == "fail"
	}
}

# ---- policies.kyverno.io

test_validating_policy if {
	every kind in ["policies.kyverno.io/ValidatingPolicy", "policies.kyverno.io/ImageValidatingPolicy"] {
		conditions := {"validations": [{"expression": "object.spec.hostNetwork != true"}]}
		of(inventory([item(kind, conditions)])) == "pass"
		of(inventory([item(kind, object.union(conditions, {"validationActions": ["Audit", "Deny"]}))])) == "pass"
		every change in [
			{"validationActions": ["Audit"]},
			{"validationActions": ["Warn", "Audit"]},
			{"validations": []},
			{"validations": [{"expression": "true"}]},
			{"evaluation": {"admission": {"enabled": false}}},
			{"evaluation": {"mode": "JSON"}},
		] {
			of(inventory([item(kind, object.union(conditions, change))])) == "fail"
		}
		of(inventory([item(kind, {})])) == "fail"
	}
}

# ---- ValidatingAdmissionPolicy

vap(name, spec) := named("admissionregistration.k8s.io/ValidatingAdmissionPolicy", name, spec)

binding(spec) := item("admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding", spec)

conditions := {"validations": [{"expression": "has(object.metadata.labels.owner)"}]}

test_admission_policy_with_a_binding_that_denies if {
	of(inventory([vap("a", conditions), binding({"policyName": "a", "validationActions": ["Deny"]})])) == "pass"
	of(inventory([vap("a", conditions), binding({"policyName": "a", "validationActions": ["Audit", "Deny"]})])) == "pass"
}

test_admission_policy_that_nothing_binds if {
	every objects in [
		[vap("a", conditions)],
		[binding({"policyName": "a", "validationActions": ["Deny"]})],
		[vap("a", conditions), binding({"policyName": "b", "validationActions": ["Deny"]})],
		[vap("a", conditions), binding({"policyName": "a", "validationActions": ["Warn", "Audit"]})],
		[vap("a", conditions), binding({"policyName": "a"})],
		[vap("a", {}), binding({"policyName": "a", "validationActions": ["Deny"]})],
		[vap("a", {"validations": [{"expression": "true"}]}), binding({"policyName": "a", "validationActions": ["Deny"]})],
		[vap("a", {"auditAnnotations": [{"key": "k"}]}), binding({"policyName": "a", "validationActions": ["Deny"]})],
	] {
		of(inventory(objects)) == "fail"
	}
}

test_conditions_that_every_object_meets if {
	every expression in ["1 == 1", "'a'=='a'", " ( true ) ", "true == true", `"a" == "a"`] {
		met := {"validations": [{"expression": expression}]}
		of(inventory([vap("a", met), binding({"policyName": "a", "validationActions": ["Deny"]})])) == "fail"
		of(inventory([item("policies.kyverno.io/ValidatingPolicy", met)])) == "fail"
	}
	every expression in ["1 == 2", "object.kind == object.kind || false", "object.metadata.name == 'a'"] {
		met := {"validations": [{"expression": expression}]}
		of(inventory([vap("a", met), binding({"policyName": "a", "validationActions": ["Deny"]})])) == "pass"
	}
}

# ---- Gatekeeper

template := item("templates.gatekeeper.sh/ConstraintTemplate", {
	"crd": {"spec": {"names": {"kind": "RequiredLabels"}}},
	"targets": [{"target": "admission.k8s.gatekeeper.sh"}],
})

constraint(kind, spec) := {"kind_key": "constraints.gatekeeper.sh/*", "value": {"kind": kind, "metadata": {"name": "c"}, "spec": spec}}

scoped(point, action) := {
	"enforcementAction": "scoped",
	"scopedEnforcementActions": [{"action": action, "enforcementPoints": [{"name": point}]}],
}

test_constraint_that_denies if {
	every spec in [{}, {"enforcementAction": "deny"}, scoped("validation.gatekeeper.sh", "deny"), scoped("*", "deny")] {
		of(inventory([template, constraint("RequiredLabels", spec)])) == "pass"
	}
}

test_gatekeeper_that_denies_nothing if {
	every objects in [
		[template],
		[constraint("RequiredLabels", {})],
		[template, constraint("AnotherKind", {})],
		[template, constraint("RequiredLabels", {"enforcementAction": "dryrun"})],
		[template, constraint("RequiredLabels", {"enforcementAction": "warn"})],
		[template, constraint("RequiredLabels", {"enforcementAction": "scoped"})],
		[template, constraint("RequiredLabels", scoped("audit.gatekeeper.sh", "deny"))],
		[template, constraint("RequiredLabels", scoped("*", "warn"))],
		[item("templates.gatekeeper.sh/ConstraintTemplate", {}), constraint("RequiredLabels", {})],
	] {
		of(inventory(objects)) == "fail"
	}
}

# ---- all of them

test_does_not_apply_to_another_kind if {
	every variant in expect.without(cluster, ["kind"]) {
		outcome(variant, {}) == "skip"
	}
}

test_fails_without_policies if {
	every found in [{}, {kind: {} | some kind in rule.kinds}, {"kyverno.io/ClusterPolicy": {"": []}}] {
		of(found) == "fail"
	}
	some violation in rule.violations with input as cluster with data.inventory as {}
	violation.path == ["metadata", "name"]
	violation.seen == null
}

test_says_what_was_found if {
	some violation in rule.violations with input as cluster with data.inventory as cluster_policy({})
	violation.seen == ["ClusterPolicy p"]
	violation.message == "the only admission policy of the cluster refuses nothing"
	some second in rule.violations with input as cluster with data.inventory as inventory([template, constraint("AnotherKind", {})])
	second.message == "none of 2 admission policies of the cluster refuses anything"
}

test_one_that_refuses_is_enough if {
	of(inventory([item("kyverno.io/ClusterPolicy", {}), template, constraint("RequiredLabels", {})])) == "pass"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(cluster) {
		outcome(variant, {}) in {"skip", "fail"}
	}
	every found in [enforcing, inventory([template, constraint("RequiredLabels", scoped("*", "deny"))])] {
		every variant in expect.damaged(found) {
			of(variant) in {"pass", "fail"}
		}
	}
}
