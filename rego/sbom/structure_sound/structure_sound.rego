# METADATA
# scope: package
# title: A bill of materials is consistent in itself
# description: |
#   A valid document can still say nothing usable: two elements with one id, relationships to elements that are not there, nothing that
#   says what is described, parts that hang in the air, checksums of the wrong length, a verification code that is not that of the
#   files listed. Every such problem is counted by its code. Circles of dependencies are no fault.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/relationships-between-SPDX-elements/
#   - ref: https://cyclonedx.org/docs/1.6/json/#dependencies
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_structure_facts
#   remediation: Mend the generator or its configuration; fleetaudit sbom check names the elements.
package sbom.structure_sound

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

structure := fields.mapping(evidence.spec, ["structure"])

tolerated := data.parameters["sbom/structure-sound"].tolerated

violations contains v if some v in evidence.of_a_broken_document

violations contains v if {
	evidence.read
	some i, problem in fields.list(structure, ["problems"])
	not fields.text(problem, ["code"]) in tolerated
	said := sprintf("%s: %s (%v times)", [
		fields.text(problem, ["code"]),
		fields.text(problem, ["message"]),
		evidence.number(problem, ["count"]),
	])
	v := evidence.violation(["structure", "problems", i], said, fields.get(problem, ["examples"], null), "no such problem")
}

violations contains evidence.undecided(["content", "status"], evidence.why_unread) if not evidence.read

violations contains v if {
	evidence.read
	not fields.text(structure, ["status"]) in {"sound", "unsound"}
	v := evidence.undecided(["structure", "status"], "nothing is known of its structure")
}
