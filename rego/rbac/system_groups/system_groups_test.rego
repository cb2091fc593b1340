package rbac.system_groups_test

import data.lib.expect
import data.rbac.system_groups as rule

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

bad := binding("model-reader", [team("platform"), team("system:authenticated")])

test_fails_on_each_group if {
	paths(bad) == {["subjects", 1, "name"]}
	every name in ["system:unauthenticated", "system:serviceaccounts", "system:masters"] {
		outcome(binding("view", [team(name)])) == "fail"
	}
	outcome(binding("view", [user("system:anonymous")])) == "fail"
}

test_passes_on_named_subjects if {
	outcome(binding("view", [team("platform"), user("alice"), account("research", "trainer")])) == "pass"
	outcome(binding("view", [user("system:authenticated"), team("system:anonymous")])) == "pass"
}

test_passes_on_what_kubernetes_binds if {
	outcome(binding("system:discovery", [team("system:authenticated")])) == "pass"
	shipped := binding("cluster-admin", [team("system:masters")])
	outcome(expect.replaced(shipped, ["metadata", "name"], "cluster-admin")) == "pass"
	outcome(shipped) == "fail"
}

test_a_role_of_the_same_name_is_not_shipped if {
	local := expect.replaced(binding("system:discovery", [team("system:authenticated")]), ["roleRef", "kind"], "Role")
	outcome(local) == "fail"
	info := expect.replaced(binding("kubeadm:bootstrap-signer-clusterinfo", [user("system:anonymous")]), ["roleRef", "kind"], "Role")
	outcome(info) == "fail"
	outcome(expect.replaced(info, ["metadata", "namespace"], "kube-public")) == "pass"
}

test_another_list_of_groups if {
	outcome(bad) == "pass" with data.parameters["rbac/system-groups"].groups as ["system:unauthenticated"]
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

test_fails_without_role if {
	every variant in expect.without(bad, ["roleRef"]) {
		outcome(variant) == "fail"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
