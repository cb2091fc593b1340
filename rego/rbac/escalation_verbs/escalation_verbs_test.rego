package rbac.escalation_verbs_test

import data.lib.expect
import data.rbac.escalation_verbs as rule

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

bad := role([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["escalate"]}])

binds(names) := role([{
	"apiGroups": ["rbac.authorization.k8s.io"],
	"resources": ["clusterroles"],
	"verbs": ["bind"],
	"resourceNames": names,
}])

impersonates(resource, names) := role([{
	"apiGroups": [""],
	"resources": [resource],
	"verbs": ["impersonate"],
	"resourceNames": names,
}])

test_fails_on_escalate if {
	paths(bad) == {["rules", 0, "resources", 0]}
}

test_fails_on_impersonate if {
	every resource in ["users", "groups", "serviceaccounts", "*"] {
		outcome(impersonates(resource, [])) == "fail"
	}
}

test_fails_where_a_wildcard_covers_the_verb if {
	outcome(role([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])) == "fail"
	outcome(role([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["*"]}])) == "fail"
}

test_passes_on_the_same_verbs_elsewhere if {
	outcome(role([{"apiGroups": ["example.test"], "resources": ["widgets"], "verbs": ["bind", "escalate", "impersonate"]}])) == "pass"
	outcome(role([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"], "verbs": ["bind"]}])) == "pass"
	outcome(role([{"apiGroups": ["example.test"], "resources": ["*"], "verbs": ["*"]}])) == "pass"
	outcome(role([{"apiGroups": [""], "resources": ["pods"], "verbs": ["impersonate"]}])) == "pass"
}

test_verbs_of_one_rule_do_not_meet_resources_of_another if {
	outcome(role([
		{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["get"]},
		{"apiGroups": ["example.test"], "resources": ["widgets"], "verbs": ["escalate"]},
	])) == "pass"
}

test_narrowed_bind if {
	outcome(binds([])) == "fail"
	outcome(binds(["view"])) == "pass"
	outcome(binds(["view", "cluster-admin"])) == "fail"
}

test_narrowed_impersonate if {
	outcome(impersonates("users", ["deployer"])) == "pass"
	outcome(impersonates("groups", ["system:masters"])) == "fail"
}

test_narrowed_escalate_still_fails if {
	outcome(expect.replaced(bad, ["rules", 0, "resourceNames"], ["view"])) == "fail"
}

test_empty_name_does_not_narrow if {
	outcome(binds([""])) == "fail"
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

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
