package rbac.wildcard_verbs_test

import data.lib.expect
import data.rbac.wildcard_verbs as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

role(rules) := {
	"apiVersion": "rbac.authorization.k8s.io/v1",
	"kind": "ClusterRole",
	"metadata": {"name": "r"},
	"rules": rules,
}

bad := role([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "*"]}])

test_fails_on_the_wildcard if {
	paths(bad) == {["rules", 0, "verbs", 1]}
}

test_fails_on_urls_too if {
	paths(role([{"nonResourceURLs": ["/metrics"], "verbs": ["*"]}])) == {["rules", 0, "verbs", 0]}
}

test_passes_on_named_verbs if {
	outcome(role([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}])) == "pass"
}

test_names_the_rule if {
	good := {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}
	paths(role([good, good, bad.rules[0]])) == {["rules", 2, "verbs", 1]}
}

test_lone_string_is_a_list_of_one if {
	outcome(expect.replaced(bad, ["rules", 0, "verbs"], "*")) == "fail"
}

test_grants_nothing_without_apigroups if {
	every variant in expect.without(bad, ["rules", 0, "apiGroups"]) {
		outcome(variant) == "pass"
	}
}

test_grants_nothing_without_resources if {
	every variant in expect.without(bad, ["rules", 0, "resources"]) {
		outcome(variant) == "pass"
	}
}

test_grants_nothing_without_verbs if {
	every variant in expect.without(bad, ["rules", 0, "verbs"]) {
		outcome(variant) == "pass"
	}
}

test_does_not_apply_without_rules if {
	every variant in expect.without(bad, ["rules"]) {
		outcome(variant) == "skip"
	}
}

test_does_not_apply_to_what_kubernetes_installs if {
	metadata := {"name": "cluster-admin", "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
	outcome(object.union(bad, {"metadata": metadata})) == "skip"
}

test_label_alone_is_not_believed if {
	metadata := {"name": "own", "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
	outcome(object.union(bad, {"metadata": metadata})) == "fail"
}

shipped(kind, name, rules) := {
	"apiVersion": "rbac.authorization.k8s.io/v1",
	"kind": kind,
	"metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
	"rules": rules,
}

everything := [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]

test_a_name_like_a_controllers_is_not_believed if {
	outcome(shipped("ClusterRole", "system:controller:evil", everything)) == "fail"
	outcome(shipped("ClusterRole", "system:controller:job-controller", everything)) == "fail"
	outcome(shipped("ClusterRole", "system:controller:generic-garbage-collector", everything)) == "fail"
}

test_kubernetes_ships_no_such_role_of_a_namespace if {
	outcome(shipped("Role", "cluster-admin", everything)) == "fail"
	outcome(shipped("Role", "admin", everything)) == "fail"
}

test_a_shipped_role_that_somebody_widened if {
	outcome(shipped("ClusterRole", "edit", everything)) == "fail"
	outcome(shipped("ClusterRole", "system:kubelet-api-admin", everything)) == "fail"
	outcome(shipped("ClusterRole", "edit", [{"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"]}])) == "pass"
	outcome(shipped("ClusterRole", "edit", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}])) == "skip"
}

test_a_shipped_role_that_hands_on_more_rights if {
	group := "rbac.authorization.k8s.io"
	aggregates := [{"apiGroups": [group], "resources": ["clusterroles"], "verbs": ["escalate", "get"]}]
	outcome(shipped("ClusterRole", "system:controller:clusterrole-aggregation-controller", aggregates)) == "skip"
	outcome(shipped("ClusterRole", "admin", aggregates)) == "pass"
	impersonates := [{"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}]
	outcome(shipped("ClusterRole", "admin", impersonates)) == "skip"
	outcome(shipped("ClusterRole", "system:node", impersonates)) == "pass"
}

test_shipped_wildcards if {
	outcome(shipped("ClusterRole", "cluster-admin", everything)) == "skip"
	every name, verbs in {
		"system:controller:generic-garbage-collector": ["get", "list", "watch", "patch", "update", "delete"],
		"system:controller:namespace-controller": ["get", "list", "watch", "delete", "deletecollection"],
		"system:controller:resourcequota-controller": ["list", "watch"],
		"system:kube-controller-manager": ["list", "watch"],
	} {
		outcome(shipped("ClusterRole", name, [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}])) == "skip"
		outcome(shipped("ClusterRole", name, [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["create"]}])) == "pass"
	}
	proxy := [{"apiGroups": [""], "resources": ["nodes/proxy", "nodes/stats"], "verbs": ["*"]}]
	outcome(shipped("ClusterRole", "system:kubelet-api-admin", proxy)) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
