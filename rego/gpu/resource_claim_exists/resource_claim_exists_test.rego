package gpu.resource_claim_exists_test

import data.gpu.resource_claim_exists as rule
import data.lib.expect

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

outcome(object, claims, templates) := expect.outcome(applies, violations) if {
	inventory := {
		"resource.k8s.io/ResourceClaim": {"research": claims},
		"resource.k8s.io/ResourceClaimTemplate": {"research": templates},
	}
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

claiming(claim, uses) := object.union(pod([asks({"claims": uses})]), {"spec": {"resourceClaims": [claim]}})

by_template := claiming({"name": "gpu", "resourceClaimTemplateName": "one-gpu"}, [{"name": "gpu"}])

by_name := claiming({"name": "gpu", "resourceClaimName": "one-gpu"}, [{"name": "gpu"}])

named := [{"metadata": {"name": "one-gpu", "namespace": "research"}}]

test_fails_when_it_is_not_there if {
	outcome(by_template, [], []) == "fail"
	outcome(by_name, [], []) == "fail"
	some violation in rule.violations with input as by_template with data.inventory as {}
	violation.path == ["spec", "resourceClaims", 0, "resourceClaimTemplateName"]
}

test_kind_and_namespace_matter if {
	outcome(by_template, named, []) == "fail"
	outcome(by_name, [], named) == "fail"
	outcome(expect.replaced(by_name, ["metadata", "namespace"], "serving"), named, []) == "fail"
}

test_passes_when_it_exists if {
	outcome(by_template, [], named) == "pass"
	outcome(by_name, named, []) == "pass"
}

test_older_form if {
	older := claiming({"name": "gpu", "source": {"resourceClaimTemplateName": "one-gpu"}}, [{"name": "gpu"}])
	outcome(older, [], named) == "pass"
	outcome(older, [], []) == "fail"
}

test_container_uses_a_claim_that_is_not_listed if {
	stray := claiming({"name": "gpu", "resourceClaimName": "one-gpu"}, [{"name": "other"}])
	outcome(stray, named, []) == "fail"
	every variant in expect.without(by_name, ["spec", "resourceClaims"]) {
		outcome(variant, named, []) == "fail"
	}
	every variant in expect.without(by_name, ["spec", "resourceClaims", 0, "name"]) {
		outcome(variant, named, []) == "fail"
	}
}

test_does_not_apply_without_claims if {
	outcome(pod([asks({"limits": {"nvidia.com/gpu": 1}})]), [], []) == "skip"
	outcome(pod([]), [], []) == "skip"
}

test_claim_without_name_is_not_looked_for if {
	every variant in expect.without(by_name, ["spec", "resourceClaims", 0, "resourceClaimName"]) {
		outcome(variant, [], []) == "pass"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(by_template) {
		outcome(variant, [], named) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged(named[0]) {
		outcome(by_template, [], [variant]) in {"pass", "fail"}
	}
}
