package signature.provenance_source_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.provenance_source as rule

test_what_is_expected_passes if {
	rule.applies with input as facts.provenance("verified", {})
	rule.violations == set() with input as facts.provenance("verified", {})
}

test_each_check_that_is_wrong_fails_at_its_place if {
	places := {
		"source": "spec.source.uri",
		"ref": "spec.source.ref",
		"workflow": "spec.workflow",
		"build_type": "spec.build_type",
		"parameters": "spec.external_parameters",
	}
	every name, place in places {
		found := rule.violations with input as facts.provenance("verified", {"checks": {name: "wrong"}})
		facts.decided(found)
		testing.paths(found) == {place}
	}
}

test_the_value_is_shown if {
	found := rule.violations with input as facts.provenance("verified", {"checks": {"source": "wrong"}})
	{v.seen | some v in found} == {"https://github.com/acme/app"}
}

test_a_value_that_is_not_there_is_undecided if {
	found := rule.violations with input as facts.provenance("verified", {"checks": {"source": "unknown"}})
	facts.undecided(found)
}

test_a_signature_that_is_not_good_fails if {
	found := rule.violations with input as facts.provenance("wrong_identity", {"checks": {"source": "unknown"}})
	facts.decided(found)
}

test_what_could_not_be_checked_is_undecided if {
	found := rule.violations with input as facts.provenance("could_not_check", {})
	facts.undecided(found)
}

test_not_asked_without_expectations if {
	none := {"source": "not_configured", "ref": "not_configured", "workflow": "not_configured", "build_type": "not_configured", "parameters": "not_configured"}
	rule.applies == false with input as facts.provenance("verified", {"checks": none})
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.provenance("verified", {}), [["spec"], ["spec", "status"], ["spec", "checks"], ["spec", "checks", "source"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	every variant in testing.dropped(facts.provenance("verified", {"checks": {"workflow": "wrong"}}), [["spec", "workflow"]]) {
		found := rule.violations with input as variant
		facts.decided(found)
	}
}
