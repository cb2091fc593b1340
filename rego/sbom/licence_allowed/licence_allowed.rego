# METADATA
# scope: package
# title: Licences of components are among those allowed
# description: |
#   Each licence expression is judged as a whole: of alternatives joined by OR one must be allowed entirely, of parts joined by AND all.
#   With an allow list, whatever is not on it is refused, and a component whose licence nobody knows leaves the pair undecided.
#   NOASSERTION is never a licence. Patterns may hold *, capitals don't matter.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/
#   - ref: https://spdx.org/licenses/
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: not_configured
#   remediation: Replace the component, buy or agree another licence, or add the licence to the list after review.
package sbom.licence_allowed

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	count(allow) + count(deny) > 0
}

allow := data.parameters["sbom/licence-allowed"].allow

deny := data.parameters["sbom/licence-allowed"].deny

rows := fields.list(evidence.spec, ["licences", "expressions"])

violations contains v if some v in evidence.of_a_broken_document

violations contains v if {
	evidence.read
	some i, row in rows
	fields.text(row, ["status"]) == "known"
	is_array(row.alternatives)
	not one_permitted(row.alternatives)
	said := sprintf("%s is not allowed, in %v components, for example %s", [
		row.expression,
		row.components,
		evidence.some_of(fields.list(row, ["examples"])),
	])
	v := evidence.violation(["licences", "expressions", i], said, row.expression, "an allowed licence")
}

# Too many alternatives to list: allowed when every licence named is, and otherwise not decided.
violations contains v if {
	evidence.read
	some i, row in rows
	fields.text(row, ["status"]) == "known"
	not is_array(row.alternatives)
	some name in fields.list(row, ["licences"])
	not permitted(name)
	said := sprintf("an expression with more alternatives than can be weighed names %s", [name])
	v := evidence.undecided(["licences", "expressions", i], said)
}

violations contains v if {
	evidence.read
	some i, row in rows
	not fields.text(row, ["status"]) in {"known", "none"}
	said := sprintf("nobody knows the licence of %v components (%s), for example %s", [
		evidence.number(row, ["components"]),
		fields.text(row, ["status"]),
		evidence.some_of(fields.list(row, ["examples"])),
	])
	v := evidence.undecided(["licences", "expressions", i], said)
}

violations contains v if {
	evidence.read
	left_out := evidence.number(evidence.spec, ["licences", "left_out"])
	left_out > 0
	v := evidence.undecided(["licences", "left_out"], sprintf("%v more expressions were not listed", [left_out]))
}

violations contains evidence.undecided(["content", "status"], evidence.why_unread) if not evidence.read

violations contains v if {
	evidence.read
	count(rows) == 0
	v := evidence.undecided(["licences", "expressions"], "nothing is known of its licences")
}

one_permitted(alternatives) if {
	some way in alternatives
	every name in way {
		permitted(name)
	}
} else := false

permitted(name) if {
	not evidence.fits(name, deny)
	on_the_list(name)
} else := false

on_the_list(_) if count(allow) == 0

on_the_list(name) if {
	count(allow) > 0
	evidence.fits(name, allow)
}
