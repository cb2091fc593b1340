package evidence.benchmark_passed_test

import data.evidence.benchmark_passed as rule
import data.lib.results
import data.lib.testing

benchmark(statuses) := results.result("BenchmarkResult", {
	"status": "evaluated",
	"rows": [{"id": sprintf("master/1.%v", [i]), "title": "t", "status": status, "stated": [status]} | some i, status in statuses],
	"left_out": 0,
})

judged(subject) := found if found := rule.violations with input as subject

test_passed if {
	rule.applies with input as benchmark(["passed"])
	judged(benchmark(["passed", "excluded"])) == set()
}

test_each_failed_row_is_a_violation if {
	found := judged(benchmark(["passed", "failed", "failed"]))
	results.decided(found)
	testing.paths(found) == {"spec.rows.1.status", "spec.rows.2.status"}
}

test_tolerated_rows if {
	found := rule.violations with input as benchmark(["failed", "failed"]) with data.parameters["evidence/benchmark-passed"].tolerated as ["MASTER/1.0"]
	testing.paths(found) == {"spec.rows.1.status"}
	all_of_them := rule.violations with input as benchmark(["failed", "unsure"]) with data.parameters["evidence/benchmark-passed"].tolerated as ["master/*"]
	all_of_them == set()
}

test_not_sure_is_undecided if {
	every status in ["unsure", "manual", "", "new"] {
		results.undecided(judged(benchmark(["passed", status])))
	}
}

test_manual_rows_by_parameter if {
	found := rule.violations with input as benchmark(["passed", "manual"]) with data.parameters["evidence/benchmark-passed"].manual_passes as true
	found == set()
	unsure := rule.violations with input as benchmark(["unsure"]) with data.parameters["evidence/benchmark-passed"].manual_passes as true
	results.undecided(unsure)
}

test_nothing_evaluated_is_undecided if {
	results.undecided(judged(results.result("BenchmarkResult", {"status": "not_evaluated", "rows": [], "left_out": 0})))
	results.undecided(judged(json.patch(benchmark(["passed"]), [{"op": "replace", "path": "/spec/left_out", "value": 3}])))
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(benchmark(["passed"]), [["spec"], ["spec", "status"], ["spec", "rows"], ["spec", "rows", 0, "status"]]) {
		results.undecided(judged(variant))
	}
}
