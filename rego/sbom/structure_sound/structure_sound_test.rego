package sbom.structure_sound_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.structure_sound as rule

problems := [{"code": "duplicate_id", "message": "m", "count": 3, "examples": ["a"]}, {"code": "unreachable", "message": "n", "count": 1, "examples": []}]

unsound := facts.document({"structure": {"status": "unsound", "problems": problems}})

test_sound if rule.violations == set() with input as facts.document({})

test_each_problem_is_a_violation if {
	found := rule.violations with input as unsound
	testing.paths(found) == {"spec.structure.problems.0", "spec.structure.problems.1"}
	facts.decided(found)
}

test_tolerated_codes_pass if {
	found := rule.violations with input as unsound with data.parameters["sbom/structure-sound"].tolerated as ["duplicate_id", "unreachable"]
	found == set()
}

test_unread_is_undecided if {
	found := rule.violations with input as facts.unread
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "content"], ["spec", "content", "status"], ["spec", "structure"], ["spec", "structure", "status"]]) {
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}
