# METADATA
# title: Elements that a bill of materials must have
# description: Violations of one list of elements, and "not known" when there are no facts about it.
package lib.sbom_elements

import data.lib.evidence
import data.lib.object as fields

missing(profile, max_percent) := {evidence.undecided(["content", "status"], evidence.why_unread)} if {
	not evidence.read
} else := {evidence.undecided(["completeness", profile], said)} if {
	count(elements(profile)) == 0
	said := sprintf("nothing is known of the list %s", [profile])
} else := {evidence.violation(["counts", "packages"], "it lists no component", 0, "at least one component")} if {
	evidence.number(evidence.spec, ["completeness", profile, "components"]) == 0
} else := {v |
	some i, element in elements(profile)
	lacking := evidence.number(element, ["absent"]) + evidence.number(element, ["noassertion"])
	evidence.percent(lacking, evidence.number(element, ["total"])) > max_percent
	v := evidence.violation(
		["completeness", profile, "elements", i],
		sprintf("%s: %s is missing in %v of %v%s", [
			profile,
			fields.text(element, ["name"]),
			lacking,
			evidence.number(element, ["total"]),
			for_example(fields.list(element, ["examples"])),
		]),
		evidence.number(element, ["present"]),
		evidence.number(element, ["total"]),
	)
}

elements(profile) := fields.list(evidence.spec, ["completeness", profile, "elements"])

for_example([]) := ""

for_example(names) := sprintf(", for example %s", [evidence.some_of(names)]) if count(names) > 0
