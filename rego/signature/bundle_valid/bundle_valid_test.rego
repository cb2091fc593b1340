package signature.bundle_valid_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.bundle_valid as rule

test_right_signatures_pass_whoever_made_them if {
	every bundle in [facts.good_bundle, facts.bundle("wrong_identity", "identity_not_allowed", true), facts.bundle("could_not_check", "no_policy", true)] {
		rule.applies with input as bundle
		rule.violations == set() with input as bundle
	}
}

test_wrong_signatures_fail if {
	found := rule.violations with input as facts.bundle("invalid", "bad_signature", false)
	facts.decided(found)
	{[v.seen, v.message] | some v in found} == {["bad_signature", "it is bad_signature"]}
	testing.paths(found) == {"spec.signature_valid"}
}

test_what_could_not_be_checked_is_undecided if {
	found := rule.violations with input as facts.bundle("could_not_check", "root_unreadable", null)
	facts.undecided(found)
	{v.message | some v in found} == {"it is root_unreadable"}
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.good_bundle, [["spec"], ["spec", "signature_valid"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_nothing_is_no_signature if rule.applies == false with input as null
