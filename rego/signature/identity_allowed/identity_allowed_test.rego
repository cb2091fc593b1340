package signature.identity_allowed_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.identity_allowed as rule

test_an_allowed_signer_passes if {
	rule.applies with input as facts.good_bundle
	rule.violations == set() with input as facts.good_bundle
}

test_a_stranger_fails if {
	found := rule.violations with input as facts.bundle("wrong_identity", "identity_not_allowed", true)
	facts.decided(found)
	testing.paths(found) == {"spec.identity"}
	{v.seen | some v in found} == {sprintf("%s (%s)", [facts.identity.subject, facts.identity.issuer])}
}

test_a_key_is_named if {
	bundle := facts.bundle("wrong_identity", "key_not_allowed", true)
	keyed := json.patch(bundle, [{"op": "replace", "path": "/spec/identity", "value": {"subject": null, "key_name": "other", "key": {"sha256": "ab"}}}])
	named := rule.violations with input as keyed
	{v.seen | some v in named} == {"key other"}
	stranger := rule.violations with input as json.patch(keyed, [{"op": "remove", "path": "/spec/identity/key_name"}])
	{v.seen | some v in stranger} == {"key sha256:ab"}
}

test_not_asked_of_wrong_signatures_and_without_a_policy if {
	rule.applies == false with input as facts.bundle("invalid", "bad_signature", false)
	rule.applies == false with input as facts.bundle("could_not_check", "no_policy", true)
}

test_what_could_not_be_checked_is_undecided if {
	bundle := facts.bundle("could_not_check", "root_unreadable", null)
	rule.applies with input as bundle
	found := rule.violations with input as bundle
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.good_bundle, [["spec"], ["spec", "status"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	every variant in testing.dropped(facts.bundle("wrong_identity", "identity_not_allowed", true), [["spec", "identity"], ["spec", "message"], ["spec", "code"]]) {
		found := rule.violations with input as variant
		facts.decided(found)
	}
}
