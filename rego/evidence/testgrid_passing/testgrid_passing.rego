# METADATA
# scope: package
# title: The test dashboards pass
# description: |
#   Each tab of a TestGrid summary must have an accepted status. FAIL, FLAKY, STALE and BROKEN fail; PENDING, UNKNOWN and NOT_SET are no
#   answer and leave the pair undecided, and so does a tab that the parameter names and the summary lacks.
# related_resources:
#   - ref: https://github.com/GoogleCloudPlatform/testgrid
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [TestGridSummary]}]}
#   not_applicable: no_testgrid_facts
#   remediation: Mend or remove the failing tests; a tab that nobody looks after does not belong into the gate.
package evidence.testgrid_passing

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

parameters := data.parameters["evidence/testgrid-passing"]

no_answer := {"PENDING", "UNKNOWN", "NOT_SET", ""}

tabs := fields.list(evidence.spec, ["tabs"])

asked(_) if count(parameters.tabs) == 0

asked(tab) if evidence.fits(name(tab), parameters.tabs)

name(tab) := said if {
	said := concat("/", [part | some part in [fields.text(tab, ["dashboard"]), fields.text(tab, ["tab"])]; part != ""])
	said != ""
} else := "the tab"

violations contains v if {
	some i, tab in tabs
	asked(tab)
	status := fields.text(tab, ["status"])
	not status in parameters.accepted
	not no_answer[status]
	v := evidence.violation(["tabs", i, "status"], sprintf("%s: %s", [name(tab), status]), status, concat(", ", parameters.accepted))
}

violations contains v if {
	some i, tab in tabs
	asked(tab)
	status := fields.text(tab, ["status"])
	not status in parameters.accepted
	no_answer[status]
	v := evidence.undecided(["tabs", i, "status"], sprintf("%s: no answer (%s)", [name(tab), status]))
}

violations contains v if {
	some pattern in parameters.tabs
	not present(pattern)
	v := evidence.undecided(["tabs"], sprintf("no tab %s in the summary", [pattern]))
}

violations contains evidence.undecided(["tabs"], "it holds no tab") if count(tabs) == 0

violations contains v if {
	evidence.number(evidence.spec, ["left_out"]) > 0
	v := evidence.undecided(["left_out"], "it has more tabs than could be listed")
}

present(pattern) if {
	some tab in tabs
	evidence.fits(name(tab), [pattern])
} else := false
