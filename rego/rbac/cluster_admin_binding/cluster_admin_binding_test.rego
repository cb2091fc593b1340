package rbac.cluster_admin_binding_test

import data.lib.expect
import data.rbac.cluster_admin_binding as rule

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

bad := binding("cluster-admin", [account("kube-system", "controller"), account("research", "trainer")])

test_fails_on_the_subject_outside if {
	paths(bad) == {["subjects", 1]}
}

test_fails_on_users_and_groups if {
	outcome(binding("cluster-admin", [user("alice")])) == "fail"
	outcome(binding("cluster-admin", [team("developers")])) == "fail"
}

test_passes_on_the_control_plane if {
	outcome(binding("cluster-admin", [
		account("kube-system", "controller"),
		user("system:kube-controller-manager"),
		team("system:masters"),
	])) == "pass"
}

test_groups_of_everybody_are_not_the_control_plane if {
	outcome(binding("cluster-admin", [team("system:authenticated")])) == "fail"
	outcome(binding("cluster-admin", [team("system:serviceaccounts:kube-system")])) == "fail"
	outcome(binding("cluster-admin", [user("system:anonymous")])) == "fail"
}

test_nodes_are_not_the_control_plane if {
	every name in ["system:nodes", "system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:node-proxiers"] {
		outcome(binding("cluster-admin", [team(name)])) == "fail"
	}
	every name in ["system:node:worker-1", "system:bootstrap:abcdef", "system:kube-proxy", "system:node-problem-detector"] {
		outcome(binding("cluster-admin", [user(name)])) == "fail"
	}
}

test_only_known_names_are_the_control_plane if {
	every name in ["system:eve", "system:masters", "system:kube-scheduler-2", "system:"] {
		outcome(binding("cluster-admin", [user(name)])) == "fail"
	}
	outcome(binding("cluster-admin", [team("system:admin")])) == "fail"
	every name in ["system:admin", "system:apiserver", "system:kube-scheduler"] {
		outcome(binding("cluster-admin", [user(name)])) == "pass"
	}
}

test_account_written_as_a_user if {
	outcome(binding("cluster-admin", [user("system:serviceaccount:research:trainer")])) == "fail"
	outcome(binding("cluster-admin", [user("system:serviceaccount:kube-system:controller")])) == "pass"
}

test_account_without_namespace_is_of_the_binding if {
	outcome(binding("cluster-admin", [{"kind": "ServiceAccount", "name": "trainer"}])) == "fail"
	inside := expect.replaced(bad, ["metadata", "namespace"], "kube-system")
	outcome(expect.replaced(inside, ["subjects"], [{"kind": "ServiceAccount", "name": "controller"}])) == "pass"
}

test_allowed_namespace if {
	outcome(bad) == "pass" with data.parameters["rbac/cluster-admin-binding"].allowed_namespaces as ["kube-system", "research"]
}

test_nobody_bound_passes if {
	every variant in expect.without(bad, ["subjects"]) {
		outcome(variant) == "pass"
	}
}

test_does_not_apply_to_another_role if {
	outcome(binding("view", [user("alice")])) == "skip"
	outcome(expect.replaced(bad, ["roleRef", "kind"], "Role")) == "skip"
	every path in [["roleRef"], ["roleRef", "name"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_missing_kind_of_role_is_judged if {
	every variant in expect.without(bad, ["roleRef", "kind"]) {
		outcome(variant) == "fail"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
