package rbac.webhook_configuration_write_test

import data.lib.expect
import data.rbac.webhook_configuration_write as rule

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

bad := role([{
	"apiGroups": ["admissionregistration.k8s.io"],
	"resources": ["validatingwebhookconfigurations"],
	"verbs": ["get", "patch"],
}])

test_fails_on_each_kind_and_verb if {
	paths(bad) == {["rules", 0, "resources", 0]}
	every verb in ["create", "update", "patch", "delete", "deletecollection", "*"] {
		outcome(expect.replaced(bad, ["rules", 0, "verbs"], [verb])) == "fail"
	}
	every resource in ["mutatingwebhookconfigurations", "validatingadmissionpolicybindings", "*"] {
		outcome(expect.replaced(bad, ["rules", 0, "resources"], [resource])) == "fail"
	}
}

test_passes_on_reading if {
	outcome(expect.replaced(bad, ["rules", 0, "verbs"], ["get", "list", "watch"])) == "pass"
}

test_passes_in_another_group if {
	outcome(expect.replaced(bad, ["rules", 0, "apiGroups"], ["example.test"])) == "pass"
}

test_passes_when_narrowed if {
	outcome(expect.replaced(bad, ["rules", 0, "resourceNames"], ["injector"])) == "pass"
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
