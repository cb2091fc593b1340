# METADATA
# scope: package
# title: Licences of components are stated
# description: |
#   What a component may be used for is known only when its licence is: NOASSERTION, no statement, a text that is no SPDX expression, and
#   a LicenseRef that the document does not declare are counted, each by itself. NONE is a statement. The parameter allows a share of
#   the components to be unknown.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/
# custom:
#   severity: low
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_component
#   remediation: Let the generator look licences up, or conclude them by hand; write own licences as LicenseRef with their text.
package sbom.licences_known

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	not empty_document
}

empty_document if {
	evidence.read
	not evidence.broken
	is_object(counts)
	total == 0
}

counts := fields.get(evidence.spec, ["licences", "counts"], null)

total := sum([number | some number in fields.mapping(evidence.spec, ["licences", "counts"]); is_number(number)])

unknown := ["noassertion", "absent", "unparsable", "undeclared_ref"]

violations contains v if some v in evidence.of_a_broken_document

violations contains v if {
	evidence.read
	lacking := sum([evidence.number(counts, [status]) | some status in unknown])
	evidence.percent(lacking, total) > data.parameters["sbom/licences-known"].max_unknown_percent
	some status in unknown
	number := evidence.number(counts, [status])
	number > 0
	names := [name |
		some row in fields.list(evidence.spec, ["licences", "expressions"])
		fields.text(row, ["status"]) == status
		some name in fields.list(row, ["examples"])
	]
	said := sprintf("%s: %v of %v components, for example %s", [status, number, total, evidence.some_of(names)])
	v := evidence.violation(["licences", "counts", status], said, number, 0)
}

violations contains evidence.undecided(["content", "status"], evidence.why_unread) if not evidence.read

violations contains v if {
	evidence.read
	not is_object(counts)
	v := evidence.undecided(["licences", "counts"], "nothing is known of its licences")
}
