package evidence.benchmark_passed_test

import data.evidence.benchmark_passed as rule
import data.lib.results
import data.lib.testing

benchmark(statuses) := results.result("BenchmarkResult", {
	"status": "evaluated",
	"rows": [row(i, status) | some i, status in statuses],
	"left_out": 0,
	"totals": {"status": "absent"},
})

row(i, status) := {
	"id": sprintf("master/1.%v", [i]),
	"title": "t",
	"status": status,
	"stated_status": status,
	"stated": [status],
	"set_aside": [],
	"set_aside_left_out": 0,
}

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

test_what_is_not_decided_is_named_beside_a_failure if {
	found := judged(benchmark(["failed", "unsure", "manual", "passed"]))
	{v.message | some v in found; not v.undecided} == {
		"master/1.0 t failed",
		"2 more rows are not decided, for example master/1.1 t, master/1.2 t",
	}
	{[v.seen, v.expected] | some v in judged(benchmark(["failed", "unsure"])); v.path == ["spec", "counts"]} == {[1, 0]}
	tolerated := rule.violations with input as benchmark(["failed", "unsure"]) with data.parameters["evidence/benchmark-passed"].tolerated as ["master/1.0"]
	results.undecided(tolerated)
}

test_manual_rows_by_parameter if {
	found := rule.violations with input as benchmark(["passed", "manual"]) with data.parameters["evidence/benchmark-passed"].manual_passes as true
	found == set()
	unsure := rule.violations with input as benchmark(["unsure"]) with data.parameters["evidence/benchmark-passed"].manual_passes as true
	results.undecided(unsure)
}

test_nothing_evaluated_is_undecided if {
	results.undecided(judged(results.result("BenchmarkResult", {"status": "not_evaluated", "rows": [], "left_out": 0})))
	results.undecided(judged(json.patch(benchmark(["passed"]), [{"op": "replace", "path": "/spec/left_out", "value": 1}])))
}

with_totals(status) := json.patch(benchmark(["passed"]), [{"op": "replace", "path": "/spec/totals", "value": {"status": status, "differences": ["3 FAIL stated, 0 counted"]}}])

test_totals_that_contradict_the_rows_are_undecided if {
	results.undecided(judged(with_totals("differ")))
	results.undecided(judged(with_totals("")))
	judged(with_totals("agree")) == set()
}

aside(status, source) := {"status": status, "source": source}

replaced(status, entries) := json.patch(benchmark(["passed", "passed"]), [
	{"op": "replace", "path": "/spec/rows/0/status", "value": status},
	{"op": "replace", "path": "/spec/rows/0/set_aside", "value": entries},
])

believing(subject, sources) := found if {
	found := rule.violations with input as subject with data.parameters["evidence/benchmark-passed"].trusted_suppressions as sources
}

test_a_replaced_result_counts_as_it_was if {
	subject := replaced("failed", [aside("fail to pass", "Ann")])
	results.decided(judged(subject))
	{v.message | some v in judged(subject)} == {"master/1.0 t failed (set aside: fail to pass, by Ann)"}
	results.decided(believing(subject, ["Bob"]))
	believing(subject, ["ann"]) == set()
	results.undecided(judged(replaced("unsure", [aside("skip", "kube-bench configuration")])))
}

test_every_source_must_be_believed if {
	two := replaced("failed", [aside("fail to pass", "Ann"), aside("fail to pass", "Bob")])
	results.decided(believing(two, ["Ann"]))
	believing(two, ["*"]) == set()
	more := json.patch(two, [{"op": "replace", "path": "/spec/rows/0/set_aside_left_out", "value": 1}])
	results.decided(believing(more, ["*"]))
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(benchmark(["passed"]), [["spec"], ["spec", "status"], ["spec", "rows"], ["spec", "rows", 0, "status"], ["spec", "totals"], ["spec", "totals", "status"]]) {
		results.undecided(judged(variant))
	}
	every variant in testing.dropped(replaced("failed", [aside("fail to pass", "Ann")]), [["spec", "rows", 0, "set_aside"], ["spec", "rows", 0, "stated_status"]]) {
		count(believing(variant, ["*"])) > 0
	}
}
