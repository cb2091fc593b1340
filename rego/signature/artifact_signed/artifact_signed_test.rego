package signature.artifact_signed_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.artifact_signed as rule

test_signed_passes if {
	artifact := facts.signed_artifact("verified", "verified")
	rule.applies with input as artifact
	rule.violations == set() with input as artifact
}

test_each_kind_of_wrong_fails_with_its_code if {
	every status, code in {"unsigned": "unsigned", "invalid": "digest_mismatch", "wrong_identity": "signers_missing"} {
		found := rule.violations with input as facts.signed_artifact(status, code)
		facts.decided(found)
		{v.seen | some v in found} == {code}
	}
}

test_what_could_not_be_checked_is_undecided if {
	every status in ["could_not_check", "something else", ""] {
		found := rule.violations with input as facts.signed_artifact(status, "no_key_configured")
		facts.undecided(found)
	}
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.signed_artifact("verified", "verified"), [["spec"], ["spec", "status"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_nothing_is_no_artifact if rule.applies == false with input as null
