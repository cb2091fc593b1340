package evidence.evidence_fresh_test

import data.evidence.evidence_fresh as rule
import data.lib.results
import data.lib.testing

aged(kind, status, days) := results.result(kind, {"created": results.made(status, days)})

judged(subject) := found if found := rule.violations with input as subject

kinds := {"ScorecardResult": 30, "TestGridSummary": 3, "BenchmarkResult": 30, "VulnerabilityReport": 7}

test_each_kind_has_its_age if {
	every kind, days in kinds {
		rule.applies with input as aged(kind, "known", 0)
		judged(aged(kind, "known", days)) == set()
		results.decided(judged(aged(kind, "known", days + 1)))
	}
}

test_the_future_is_wrong if results.decided(judged(aged("TestGridSummary", "future", null)))

test_not_known_is_undecided if {
	every status in ["absent", "unreadable"] {
		results.undecided(judged(aged("BenchmarkResult", status, null)))
	}
	results.undecided(judged(aged("OtherResult", "known", 0)))
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(aged("ScorecardResult", "known", 0), [["kind"], ["spec"], ["spec", "created"], ["spec", "created", "status"], ["spec", "created", "age_days"]]) {
		results.undecided(judged(variant))
	}
}
