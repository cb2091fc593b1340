package rbac.wildcard_resources_test

import data.lib.expect
import data.rbac.wildcard_resources as rule

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

bad := role([{"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"]}])

test_fails_on_the_wildcard if {
	paths(bad) == {["rules", 0, "resources", 0]}
}

test_fails_on_every_url if {
	paths(role([{"nonResourceURLs": ["*"], "verbs": ["get"]}])) == {["rules", 0, "nonResourceURLs", 0]}
	paths(role([{"nonResourceURLs": ["/healthz", "/*"], "verbs": ["get"]}])) == {["rules", 0, "nonResourceURLs", 1]}
	outcome(role([{"nonResourceURLs": ["/healthz/*"], "verbs": ["get"]}])) == "pass"
}

test_passes_on_named_resources if {
	outcome(role([{"apiGroups": ["*"], "resources": ["deployments"], "verbs": ["get"]}])) == "pass"
}

test_passes_on_a_wildcard_of_subresources if {
	outcome(role([{"apiGroups": ["*"], "resources": ["*/scale"], "verbs": ["get"]}])) == "pass"
}

test_allowed_group if {
	outcome(bad) == "pass" with data.parameters["rbac/wildcard-resources"].allowed_groups as ["apps"]
}

test_allowed_group_covers_itself_only if {
	both := expect.replaced(bad, ["rules", 0, "apiGroups"], ["apps", ""])
	outcome(both) == "fail" with data.parameters["rbac/wildcard-resources"].allowed_groups as ["apps"]
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
