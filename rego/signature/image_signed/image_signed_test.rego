package signature.image_signed_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.image_signed as rule

test_signed_passes if {
	image := facts.image("verified", "verified", true, [{}])
	rule.applies with input as image
	rule.violations == set() with input as image
}

test_unsigned_fails_where_a_signature_is_required if {
	image := facts.image("unsigned", "unsigned", true, [])
	rule.applies with input as image
	found := rule.violations with input as image
	facts.decided(found)
	testing.paths(found) == {"spec.status"}
}

test_not_asked_where_none_is_required_and_none_is_there if {
	rule.applies == false with input as facts.image("unsigned", "unsigned", false, [])
	rule.applies == false with input as facts.image("could_not_check", "no_manifest_digest", false, [])
}

test_a_wrong_signature_fails_whether_one_is_required_or_not if {
	every required in [true, false] {
		image := facts.image("invalid", "image_mismatch", required, [{}])
		rule.applies with input as image
		found := rule.violations with input as image
		facts.decided(found)
	}
	rule.applies with input as facts.image("invalid", "blob_differs", false, [])
}

test_what_could_not_be_checked_is_undecided if {
	found := rule.violations with input as facts.image("could_not_check", "no_manifest_digest", true, [])
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.image("verified", "verified", true, [{}]), [["spec"], ["spec", "status"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	every variant in testing.dropped(facts.image("unsigned", "unsigned", true, []), [["spec", "required"]]) {
		rule.applies with input as variant
	}
}
