package signature.model_signed_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.model_signed as rule

none := {"count": 0, "listed": []}

model(status, code, changes) := facts.document("SignedModel", {
	"status": status,
	"code": code,
	"message": sprintf("it is %s", [code]),
	"identity": facts.identity,
	"files": 3,
	"differences": object.union({"changed": none, "missing": none, "unsigned": none, "links": none, "ignored": 2}, changes),
})

test_a_model_as_it_was_signed_passes if {
	rule.applies with input as model("verified", "verified", {})
	rule.violations == set() with input as model("verified", "verified", {})
}

test_each_kind_of_difference_fails_at_its_place if {
	every kind in ["changed", "missing", "unsigned", "links", "loadable"] {
		found := rule.violations with input as model("invalid", "model_differs", {kind: {"count": 1, "listed": ["run.py"]}})
		facts.decided(found)
		testing.paths(found) == {sprintf("spec.differences.%s", [kind])}
		{v.seen | some v in found} == {"run.py"}
	}
}

test_code_where_the_signer_looked_away_fails_a_good_signature if {
	found := rule.violations with input as model("verified", "verified", {"loadable": {"count": 1, "listed": [".git/x.py"]}})
	facts.decided(found)
}

test_a_stranger_fails if {
	found := rule.violations with input as model("wrong_identity", "identity_not_allowed", {})
	facts.decided(found)
	testing.paths(found) == {"spec.status"}
}

test_what_could_not_be_checked_is_undecided if {
	found := rule.violations with input as model("could_not_check", "unsupported_hash", {})
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	good := model("verified", "verified", {})
	every variant in testing.dropped(good, [["spec"], ["spec", "status"], ["spec", "differences"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	bad := model("invalid", "model_differs", {"changed": {"count": 1, "listed": ["a"]}})
	every variant in testing.dropped(bad, [["spec", "differences"], ["spec", "differences", "changed", "listed"]]) {
		found := rule.violations with input as variant
		facts.decided(found)
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
