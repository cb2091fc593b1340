package sbom.format_valid_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.format_valid as rule

test_valid if {
	rule.applies with input as facts.document({})
	rule.violations == set() with input as facts.document({})
}

test_each_problem_is_a_violation if {
	problems := [{"code": "schema:a", "message": "m", "count": 3, "examples": ["a.0"]}, {"code": "schema:b", "message": "n", "count": 1, "examples": []}]
	found := rule.violations with input as facts.document({"format": {"status": "invalid", "problems": problems}})
	testing.paths(found) == {"spec.format.problems.0", "spec.format.problems.1"}
	facts.decided(found)
}

test_deep_problems_count if {
	deep := {"status": "done", "errors": 1, "problems": [{"code": "deep", "message": "bad", "count": 1, "examples": []}]}
	found := rule.violations with input as facts.document({"format": {"status": "invalid", "problems": [], "deep": deep}})
	testing.paths(found) == {"spec.format.deep.problems.0"}
}

test_what_can_not_be_read_fails if {
	found := rule.violations with input as facts.unread
	facts.decided(found)
}

test_unknown_is_undecided if {
	found := rule.violations with input as facts.document({"format": {"status": "unknown", "reason": "no schema for SPDX 4"}})
	facts.undecided(found)
	{v.message | some v in found} == {"no schema for SPDX 4"}
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "format"], ["spec", "format", "status"]]) {
		found := rule.violations with input as variant
		facts.undecided(found)
		rule.applies with input as variant
	}
}

test_what_is_no_object_does_not_apply if {
	every value in [[], "text", 1, null] {
		rule.applies == false with input as value
	}
}
