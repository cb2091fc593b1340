package sbom.fresh_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.fresh as rule

made(status, days) := facts.document({"created": {"status": status, "value": "2026-01-01T00:00:00Z", "age_days": days}})

test_fresh if {
	rule.violations == set() with input as made("known", 0)
	rule.violations == set() with input as made("known", 365)
}

test_old if {
	found := rule.violations with input as made("known", 366)
	testing.paths(found) == {"spec.created"}
	facts.decided(found)
}

test_the_future_is_wrong if {
	found := rule.violations with input as made("future", null)
	facts.decided(found)
}

test_not_known_is_undecided if {
	every status in ["absent", "unreadable"] {
		found := rule.violations with input as made(status, null)
		facts.undecided(found)
	}
	unread := rule.violations with input as facts.unread
	facts.undecided(unread)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "content"], ["spec", "created"], ["spec", "created", "status"], ["spec", "created", "age_days"]]) {
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}

test_what_is_no_object_does_not_apply if {
	every value in [[], "text", 1, null] {
		rule.applies == false with input as value
	}
}
