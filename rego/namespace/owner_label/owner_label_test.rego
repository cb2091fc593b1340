package namespace.owner_label_test

import data.lib.expect
import data.namespace.owner_label as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

namespace(labels) := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving", "labels": labels}}

bad := namespace({"app": "x"})

test_fails_without_owner if {
	paths(bad) == {["metadata", "labels", "owner"]}
	outcome(namespace({"owner": " "})) == "fail"
	every variant in expect.without(namespace({"owner": "ml"}), ["metadata", "labels", "owner"]) {
		outcome(variant) == "fail"
	}
}

test_passes_with_owner if {
	outcome(namespace({"owner": "ml"})) == "pass"
	outcome(namespace({"team": "ml"})) == "pass"
	outcome(expect.replaced(bad, ["metadata", "annotations"], {"owner": "ml"})) == "pass"
}

test_another_key if {
	outcome(namespace({"squad": "ml"})) == "pass" with data.parameters["namespace/owner-label"].keys as ["squad"]
}

test_does_not_apply_to_exempt_namespaces if {
	outcome(expect.replaced(bad, ["metadata", "name"], "kube-system")) == "skip"
	outcome(bad) == "skip" with data.parameters["namespace/owner-label"].exempt_namespaces as ["serving"]
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
