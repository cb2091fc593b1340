package rbac.secrets_access_test

import data.lib.expect
import data.rbac.secrets_access as rule

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

bad := role([{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["list"]}])

named := {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["pull-secret"]}

test_fails_on_each_reading_verb if {
	paths(bad) == {["rules", 0, "resources", 1]}
	every verb in ["get", "list", "watch", "*"] {
		outcome(expect.replaced(bad, ["rules", 0, "verbs"], [verb])) == "fail"
	}
}

test_open_rule_beside_a_narrow_one_fails_alone if {
	paths(role([named, bad.rules[0]])) == {["rules", 1, "resources", 1]}
	paths(role([bad.rules[0], named])) == {["rules", 0, "resources", 1]}
}

test_fails_where_wildcards_reach_the_core_group if {
	outcome(role([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]}])) == "fail"
	outcome(role([{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}])) == "fail"
}

test_passes_on_wildcards_elsewhere if {
	outcome(role([{"apiGroups": ["external.metrics.k8s.io"], "resources": ["*"], "verbs": ["*"]}])) == "pass"
	outcome(role([{"apiGroups": ["example.test"], "resources": ["secrets"], "verbs": ["get"]}])) == "pass"
}

test_passes_on_writing_alone if {
	outcome(role([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]}])) == "pass"
}

test_passes_when_narrowed if {
	outcome(role([named])) == "pass"
	every variant in expect.without(role([named]), ["rules", 0, "resourceNames"]) {
		outcome(variant) == "fail"
	}
}

test_message_names_the_rule if {
	some violation in rule.violations with input as role([named, bad.rules[0]])
	violation.message == "rule 1 grants list on secrets in API group core"
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
