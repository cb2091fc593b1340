# METADATA
# scope: package
# title: The benchmark that was run has no failure
# description: |
#   Results of XCCDF (OpenSCAP) and kube-bench, row by row. One failed instance fails a row. Rows that the tool could not decide (error,
#   unknown), rows that need a person (WARN of kube-bench) and rows that were cut off leave the pair undecided; rows that do not apply or
#   were not selected are in neither number. A result that somebody replaced (override of XCCDF) counts as the tool had it, and a test
#   that was switched off (skip of kube-bench) is undecided, unless a parameter trusts the source. Totals that contradict the rows leave
#   the pair undecided. Whether all rows of the benchmark are there is not known.
# related_resources:
#   - ref: https://csrc.nist.gov/projects/security-content-automation-protocol/specifications/xccdf
#   - ref: https://github.com/aquasecurity/kube-bench
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [BenchmarkResult]}]}
#   not_applicable: no_benchmark_facts
#   remediation: Follow the remediation of the row in the benchmark, then run it again.
package evidence.benchmark_passed

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

parameters := data.parameters["evidence/benchmark-passed"]

rows := fields.list(evidence.spec, ["rows"])

harmless := {"passed", "excluded"}

violations contains v if {
	some i, row in rows
	judged(row) == "failed"
	id := fields.text(row, ["id"])
	not evidence.fits(id, parameters.tolerated)
	said := sprintf("%s failed%s", [titled(row), put_aside(row)])
	v := evidence.violation(["rows", i, "status"], said, fields.get(row, ["stated"], null), "pass")
}

violations contains v if {
	some i, row in rows
	undecided(row)
	status := judged(row)
	v := evidence.undecided(["rows", i, "status"], sprintf("%s: %s%s", [titled(row), why(status), put_aside(row)]))
}

# Beside a failure, what is undecided would not be told: the pair has failed, and that is its answer.
violations contains v if {
	some row in rows
	judged(row) == "failed"
	not evidence.fits(fields.text(row, ["id"]), parameters.tolerated)
	count(open) > 0
	said := sprintf("%v more rows are not decided, for example %s", [count(open), evidence.some_of(open)])
	v := evidence.violation(["counts"], said, count(open), 0)
}

open := [titled(row) |
	some row in rows
	undecided(row)
]

undecided(row) if {
	status := judged(row)
	status != "failed"
	not harmless[status]
	not waved_through(status)
	not evidence.fits(fields.text(row, ["id"]), parameters.tolerated)
}

violations contains v if {
	fields.text(evidence.spec, ["status"]) != "evaluated"
	v := evidence.undecided(["status"], "nothing was evaluated")
}

violations contains v if {
	evidence.number(evidence.spec, ["left_out"]) > 0
	v := evidence.undecided(["left_out"], "it has more rows than could be listed")
}

violations contains v if {
	fields.text(evidence.spec, ["status"]) == "evaluated"
	count(rows) == 0
	v := evidence.undecided(["rows"], "its rows are not known")
}

violations contains v if {
	not fields.text(evidence.spec, ["totals", "status"]) in {"agree", "absent"}
	said := evidence.some_of(fields.list(evidence.spec, ["totals", "differences"]))
	v := evidence.undecided(["totals", "status"], sprintf("its totals are not known to agree with its rows: %s", [said]))
}

# As the file states it where whoever put it aside is trusted, and else as it was before.
judged(row) := fields.text(row, ["stated_status"]) if {
	evidence.believed(fields.list(row, ["set_aside"]), parameters.trusted_suppressions)
	evidence.number(row, ["set_aside_left_out"]) == 0
} else := fields.text(row, ["status"])

put_aside(row) := sprintf(" (set aside: %s, by %s)", [first.status, first.source]) if {
	first := fields.list(row, ["set_aside"])[0]
} else := ""

titled(row) := concat(" ", [part | some part in [fields.text(row, ["id"]), fields.text(row, ["title"])]; part != ""])

waved_through("manual") if parameters.manual_passes == true

why("manual") := "needs a person"

why("unsure") := "the tool could not decide"

why(status) := "its status is not known" if not status in {"manual", "unsure"}
