package signature.root_fresh_test

import data.lib.signature_facts as facts
import data.lib.testing
import data.signature.root_fresh as rule

with_root(changes) := json.patch(facts.good_bundle, [{"op": "replace", "path": "/spec/root", "value": object.union(facts.root, changes)}])

test_a_fresh_root_passes if {
	rule.applies with input as facts.good_bundle
	rule.violations == set() with input as facts.good_bundle
}

test_an_old_root_fails if {
	found := rule.violations with input as with_root({"status": "stale", "age_days": 400})
	facts.decided(found)
	{[v.seen, v.expected] | some v in found} == {["2026-01-01", "180 days at most"]}
}

test_a_day_that_has_not_come_fails if {
	found := rule.violations with input as with_root({"status": "from_the_future"})
	facts.decided(found)
}

test_another_root_fails if {
	found := rule.violations with input as with_root({"status": "differs", "expected_sha256": "00"})
	facts.decided(found)
	{[v.seen, v.expected] | some v in found} == {["ef", "00"]}
}

test_a_root_that_can_not_be_read_is_undecided if {
	found := rule.violations with input as with_root({"status": "unreadable", "sha256": null})
	facts.undecided(found)
}

test_not_asked_without_a_day_and_of_keys if {
	rule.applies == false with input as with_root({"status": "unknown", "fetched": null})
	rule.applies == false with input as json.patch(facts.good_bundle, [{"op": "replace", "path": "/spec/root", "value": null}])
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.good_bundle, [["spec", "root", "status"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	every variant in testing.dropped(facts.good_bundle, [["spec"], ["spec", "root"]]) {
		passes(variant) == false
	}
	every variant in testing.dropped(with_root({"status": "stale"}), [["spec", "root", "fetched"], ["spec", "root", "max_age_days"]]) {
		found := rule.violations with input as variant
		facts.decided(found)
	}
}

# An empty object is a root of which nothing is known: asked, and undecided.
passes(variant) if {
	rule.applies with input as variant
	rule.violations == set() with input as variant
} else := false
