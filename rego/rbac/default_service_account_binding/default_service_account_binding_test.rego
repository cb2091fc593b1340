package rbac.default_service_account_binding_test

import data.lib.expect
import data.rbac.default_service_account_binding as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

binding(role, subjects) := {
	"apiVersion": "rbac.authorization.k8s.io/v1",
	"kind": "RoleBinding",
	"metadata": {"name": "b", "namespace": "research"},
	"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
	"subjects": subjects,
}

account(namespace, name) := {"kind": "ServiceAccount", "name": name, "namespace": namespace}

user(name) := {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}

team(name) := {"kind": "Group", "name": name, "apiGroup": "rbac.authorization.k8s.io"}

bad := binding("view", [account("research", "trainer"), account("research", "default")])

test_fails_on_default if {
	paths(bad) == {["subjects", 1]}
	outcome(binding("view", [user("system:serviceaccount:research:default")])) == "fail"
	outcome(binding("view", [{"kind": "ServiceAccount", "name": "default"}])) == "fail"
}

test_fails_on_all_accounts_of_a_namespace if {
	all := binding("view", [account("research", "trainer"), team("system:serviceaccounts:research")])
	paths(all) == {["subjects", 1]}
	outcome(binding("view", [user("system:serviceaccounts:research")])) == "pass"
	outcome(binding("system:image-puller", [team("system:serviceaccounts:research")])) == "pass"
	outcome(all) == "pass" with data.parameters["rbac/default-service-account-binding"].allowed_group_roles as ["view"]
}

test_passes_on_other_subjects if {
	outcome(binding("view", [account("default", "trainer"), user("default"), team("default")])) == "pass"
}

test_does_not_apply_without_subjects if {
	every variant in expect.without(bad, ["subjects"]) {
		outcome(variant) == "skip"
	}
}

test_passes_without_kind_or_name if {
	every path in [["subjects", 1, "kind"], ["subjects", 1, "name"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "pass"
		}
	}
}

test_namespace_does_not_matter if {
	every variant in expect.without(bad, ["subjects", 1, "namespace"]) {
		outcome(variant) == "fail"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
