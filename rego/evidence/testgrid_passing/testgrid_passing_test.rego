package evidence.testgrid_passing_test

import data.evidence.testgrid_passing as rule
import data.lib.results
import data.lib.testing

summary(statuses) := results.result("TestGridSummary", {"tabs": [{"dashboard": "release", "tab": tab, "status": status} | some tab, status in statuses]})

judged(subject, tabs) := found if {
	found := rule.violations with input as subject with data.parameters["evidence/testgrid-passing"].tabs as tabs
}

test_passing if {
	rule.applies with input as summary({"e2e": "PASS"})
	judged(summary({"e2e": "PASS", "gpu": "PASS"}), []) == set()
}

test_every_bad_status_fails if {
	every status in ["FAIL", "FLAKY", "STALE", "BROKEN", "ACCEPTABLE"] {
		found := judged(summary({"e2e": status}), [])
		results.decided(found)
		testing.paths(found) == {"spec.tabs.0.status"}
	}
}

test_acceptable_by_parameter if {
	found := rule.violations with input as summary({"e2e": "ACCEPTABLE"}) with data.parameters["evidence/testgrid-passing"].accepted as ["PASS", "ACCEPTABLE"]
	found == set()
}

test_no_answer_is_undecided if {
	every status in ["PENDING", "UNKNOWN", "NOT_SET", ""] {
		results.undecided(judged(summary({"e2e": status}), []))
	}
	results.undecided(judged(summary({}), []))
}

test_only_the_tabs_that_count if {
	judged(summary({"e2e": "PASS", "old": "FAIL"}), ["release/e2e"]) == set()
	results.decided(judged(summary({"e2e": "PASS", "old": "FAIL"}), ["release/*"]))
	results.undecided(judged(summary({"e2e": "PASS"}), ["release/e2e", "release/gpu"]))
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(summary({"e2e": "PASS"}), [["spec"], ["spec", "tabs"], ["spec", "tabs", 0, "status"]]) {
		results.undecided(judged(variant, []))
	}
	results.undecided(judged(json.patch(summary({"e2e": "PASS"}), [{"op": "add", "path": "/spec/left_out", "value": 1}]), []))
}
