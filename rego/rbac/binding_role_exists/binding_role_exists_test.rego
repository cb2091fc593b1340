package rbac.binding_role_exists_test

import data.lib.expect
import data.rbac.binding_role_exists as rule

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

binding(kind, name, namespace) := {
	"apiVersion": "rbac.authorization.k8s.io/v1",
	"kind": "RoleBinding",
	"metadata": {"name": "b", "namespace": namespace},
	"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
}

empty := {"rbac.authorization.k8s.io/Role": {}, "rbac.authorization.k8s.io/ClusterRole": {}}

role(namespace) := object.union(empty, {"rbac.authorization.k8s.io/Role": {namespace: [{"metadata": {"name": "reader"}}]}})

cluster_role := object.union(empty, {"rbac.authorization.k8s.io/ClusterRole": {"": [{"metadata": {"name": "reader"}}]}})

test_fails_when_nothing_of_the_name_is_there if {
	outcome(binding("Role", "reader", "research"), empty) == "fail"
	outcome(binding("ClusterRole", "reader", "research"), empty) == "fail"
	found := rule.violations with input as binding("Role", "reader", "research") with data.inventory as empty
	found == {{
		"path": ["roleRef", "name"],
		"message": "Role reader does not exist in namespace research",
		"seen": "reader",
		"expected": "the name of a role that exists",
	}}
}

test_passes_when_it_exists if {
	outcome(binding("Role", "reader", "research"), role("research")) == "pass"
	outcome(binding("ClusterRole", "reader", "research"), cluster_role) == "pass"
}

test_kind_and_namespace_matter if {
	outcome(binding("Role", "reader", "research"), role("serving")) == "fail"
	outcome(binding("Role", "reader", "research"), cluster_role) == "fail"
	outcome(binding("ClusterRole", "reader", "research"), role("research")) == "fail"
}

test_unset_namespace_may_be_any if {
	outcome(binding("Role", "reader", "research"), role("")) == "pass"
	every variant in expect.without(binding("Role", "reader", "research"), ["metadata", "namespace"]) {
		outcome(variant, role("serving")) == "pass"
		outcome(variant, empty) == "fail"
	}
}

test_built_in_roles_exist if {
	outcome(binding("ClusterRole", "view", "research"), empty) == "pass"
	outcome(binding("ClusterRole", "system:controller:job-controller", "kube-system"), empty) == "pass"
	outcome(binding("Role", "extension-apiserver-authentication-reader", "kube-system"), empty) == "pass"
	outcome(binding("Role", "extension-apiserver-authentication-reader", "research"), empty) == "fail"
	outcome(binding("Role", "view", "research"), empty) == "fail"
}

test_does_not_apply_without_a_role if {
	every path in [["roleRef"], ["roleRef", "kind"], ["roleRef", "name"]] {
		every variant in expect.without(binding("Role", "reader", "research"), path) {
			outcome(variant, empty) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(binding("Role", "reader", "research")) {
		outcome(variant, role("research")) in {"skip", "pass", "fail"}
	}
}

test_answers_whatever_the_inventory_holds if {
	every entry in [null, 7, {}, {"metadata": null}, {"metadata": {"name": 7}}] {
		outcome(binding("Role", "reader", "research"), {"rbac.authorization.k8s.io/Role": {"research": [entry]}}) == "fail"
	}
}
