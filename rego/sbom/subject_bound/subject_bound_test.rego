package sbom.subject_bound_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.subject_bound as rule

about(changes) := facts.document({"subjects": {"listed": [object.union(facts.subject, changes)], "left_out": 0}})

test_bound if {
	rule.violations == set() with input as facts.document({})
	rule.violations == set() with input as about({"images": [], "digests": ["sha512:00"]})
	rule.violations == set() with input as about({"digests": []})
}

test_weak_digests_do_not_bind if {
	found := rule.violations with input as about({"images": [], "digests": ["sha1:00", "md5:00"]})
	facts.decided(found)
	testing.paths(found) == {"spec.subjects.listed.0.digests"}
}

test_no_digest_at_all if {
	found := rule.violations with input as about({"images": [], "digests": []})
	facts.decided(found)
}

test_no_subject if {
	found := rule.violations with input as facts.document({"subjects": {"listed": [], "left_out": 0}})
	facts.decided(found)
}

test_more_than_listed_is_undecided if {
	found := rule.violations with input as facts.document({"subjects": {"listed": [facts.subject], "left_out": 2}})
	facts.undecided(found)
}

test_unread_is_undecided if {
	found := rule.violations with input as facts.unread
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "content"], ["spec", "subjects"]]) {
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}
