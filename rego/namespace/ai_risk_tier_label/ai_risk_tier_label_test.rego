package namespace.ai_risk_tier_label_test

import data.lib.expect
import data.namespace.ai_risk_tier_label as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

namespace(labels) := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving", "labels": labels}}

bad := namespace({"ai-risk-tier": "huge"})

test_fails_on_no_tier if {
	paths(bad) == {["metadata", "labels", "ai-risk-tier"]}
	every variant in expect.without(bad, ["metadata", "labels", "ai-risk-tier"]) {
		outcome(variant) == "fail"
	}
}

test_passes_on_each_tier if {
	every tier in ["none", "minimal", "limited", "high", "unacceptable"] {
		outcome(namespace({"ai-risk-tier": tier})) == "pass"
	}
}

test_own_tiers_and_key if {
	outcome(bad) == "pass" with data.parameters["namespace/ai-risk-tier-label"].tiers as ["huge"]
	outcome(namespace({"tier": "high"})) == "pass" with data.parameters["namespace/ai-risk-tier-label"].keys as ["tier"]
}

test_does_not_apply_to_exempt_namespaces if {
	outcome(expect.replaced(bad, ["metadata", "name"], "kube-system")) == "skip"
	outcome(bad) == "skip" with data.parameters["namespace/ai-risk-tier-label"].exempt_namespaces as ["serving"]
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
