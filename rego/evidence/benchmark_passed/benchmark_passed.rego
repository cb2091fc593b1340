# METADATA
# scope: package
# title: The benchmark that was run has no failure
# description: |
#   Results of XCCDF (OpenSCAP) and kube-bench, row by row. One failed instance fails a row. Rows that the tool could not decide (error,
#   unknown), rows that need a person (WARN of kube-bench) and rows that were cut off leave the pair undecided; rows that do not apply or
#   were not selected are in neither number. Whether all rows of the benchmark are there is not known.
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
	fields.text(row, ["status"]) == "failed"
	id := fields.text(row, ["id"])
	not evidence.fits(id, parameters.tolerated)
	v := evidence.violation(["rows", i, "status"], sprintf("%s failed", [titled(row)]), fields.get(row, ["stated"], null), "pass")
}

violations contains v if {
	some i, row in rows
	status := fields.text(row, ["status"])
	status != "failed"
	not harmless[status]
	not waved_through(status)
	not evidence.fits(fields.text(row, ["id"]), parameters.tolerated)
	v := evidence.undecided(["rows", i, "status"], sprintf("%s: %s", [titled(row), why(status)]))
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

titled(row) := concat(" ", [part | some part in [fields.text(row, ["id"]), fields.text(row, ["title"])]; part != ""])

waved_through("manual") if parameters.manual_passes == true

why("manual") := "needs a person"

why("unsure") := "the tool could not decide"

why(status) := "its status is not known" if not status in {"manual", "unsure"}
