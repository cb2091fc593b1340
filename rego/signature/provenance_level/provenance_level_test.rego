package signature.provenance_level_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.provenance_level as rule

test_the_level_asked_for_passes if {
	provenance := facts.provenance("verified", {"level": 3})
	rule.applies with input as provenance
	rule.violations == set() with input as provenance
	rule.violations == set() with input as facts.provenance("verified", {})
}

test_a_lower_level_fails if {
	every level in [0, 1] {
		found := rule.violations with input as facts.provenance("verified", {"level": level, "level_reason": "builder_not_trusted"})
		facts.decided(found)
		{[v.message, v.expected] | some v in found} == {[sprintf("level %v: builder not trusted", [level]), "level 2"]}
	}
}

test_the_parameter_decides if {
	found := rule.violations with input as facts.provenance("verified", {}) with data.parameters as {"signature/provenance-level": {"min_level": 3}}
	facts.decided(found)
}

test_a_signature_that_is_not_good_fails if {
	every status in ["invalid", "wrong_identity"] {
		found := rule.violations with input as facts.provenance(status, {"level": null})
		facts.decided(found)
		testing.paths(found) == {"spec.status"}
	}
}

test_not_asked_without_builders if {
	rule.applies == false with input as facts.provenance("verified", {"level": null, "level_reason": "no_builders_configured"})
}

test_what_is_not_known_is_undecided if {
	unsupported := rule.violations with input as facts.provenance("verified", {"supported": false, "level": null, "level_reason": null})
	facts.undecided(unsupported)
	unchecked := rule.violations with input as facts.provenance("could_not_check", {"level": 3})
	facts.undecided(unchecked)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.provenance("verified", {}), [["spec"], ["spec", "status"], ["spec", "level"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	every variant in testing.dropped(facts.provenance("verified", {"level": 0}), [["spec", "level_reason"], ["spec", "builder_id"]]) {
		found := rule.violations with input as variant
		facts.decided(found)
	}
}
