package evidence.scorecard_minimum_test

import data.evidence.scorecard_minimum as rule
import data.lib.results
import data.lib.testing

checks := [
	{"name": "Fuzzing", "status": "scored", "score": 3, "reason": ""},
	{"name": "Branch-Protection", "status": "inconclusive", "score": null, "reason": ""},
]

scored(value) := results.result("ScorecardResult", {"score": {"status": "known", "value": value}, "checks": checks})

judged(subject, wanted) := found if {
	found := rule.violations with input as subject with data.parameters["evidence/scorecard-minimum"].checks as wanted
}

test_enough if {
	rule.applies with input as scored(5)
	judged(scored(5), {}) == set()
	judged(scored(7), {"Fuzzing": 3}) == set()
}

test_too_little if {
	found := judged(scored(4.9), {})
	results.decided(found)
	testing.paths(found) == {"spec.score.value"}
}

test_a_check_below_its_minimum if {
	found := judged(scored(9), {"Fuzzing": 4})
	results.decided(found)
	testing.paths(found) == {"spec.checks.0.score"}
}

test_inconclusive_is_undecided if {
	results.undecided(judged(scored(9), {"Branch-Protection": 0}))
	results.undecided(judged(scored(9), {"SAST": 0}))
	every status in ["absent", "inconclusive"] {
		results.undecided(judged(results.result("ScorecardResult", {"score": {"status": status, "value": null}, "checks": []}), {}))
	}
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(scored(9), [["spec"], ["spec", "score"], ["spec", "score", "status"], ["spec", "score", "value"]]) {
		results.undecided(judged(variant, {}))
	}
	every variant in testing.dropped(scored(9), [["spec", "checks"], ["spec", "checks", 0, "status"], ["spec", "checks", 0, "score"]]) {
		results.undecided(judged(variant, {"Fuzzing": 1}))
	}
}
