package namespace.pod_security_enforced_test

import data.lib.expect
import data.namespace.pod_security_enforced as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

namespace(labels) := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving", "labels": labels}}

level(name) := namespace({"pod-security.kubernetes.io/enforce": name})

bad := level("privileged")

test_fails_on_too_little if {
	paths(bad) == {["metadata", "labels", "pod-security.kubernetes.io/enforce"]}
	outcome(level("Baseline")) == "fail"
	outcome(namespace({"pod-security.kubernetes.io/warn": "restricted"})) == "fail"
	every variant in expect.without(bad, ["metadata", "labels", "pod-security.kubernetes.io/enforce"]) {
		outcome(variant) == "fail"
	}
}

test_passes_on_a_standard if {
	outcome(level("baseline")) == "pass"
	outcome(level("restricted")) == "pass"
}

test_stricter_parameter if {
	outcome(level("baseline")) == "fail" with data.parameters["namespace/pod-security-enforced"].levels as ["restricted"]
}

test_does_not_apply_to_exempt_namespaces if {
	outcome(expect.replaced(bad, ["metadata", "name"], "kube-system")) == "skip"
	outcome(bad) == "skip" with data.parameters["namespace/pod-security-enforced"].exempt_namespaces as ["serving"]
	every path in [["metadata"], ["metadata", "name"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_fails_without_labels if {
	every variant in expect.without(bad, ["metadata", "labels"]) {
		outcome(variant) == "fail"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
