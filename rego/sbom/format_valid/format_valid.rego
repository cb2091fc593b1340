# METADATA
# scope: package
# title: A bill of materials is a valid document of its format
# description: |
#   Other programs refuse, or read in part, what does not keep to its format. The document must be one whole document in UTF-8 or
#   UTF-16, and satisfy the official JSON Schema of its version: SPDX 2.2, 2.3 and 3.0.1, CycloneDX 1.2 to 1.7; other forms are checked
#   after conversion. Small SPDX 2 documents are validated by spdx-tools as well, and the facts say whether that was done. A version or
#   a part that no schema can be asked about is undecided.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/
#   - ref: https://cyclonedx.org/specification/overview/
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_format_facts
#   remediation: Generate the document again with a generator that validates what it writes; fleetaudit sbom check lists every fault.
package sbom.format_valid

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

format := fields.mapping(evidence.spec, ["format"])

status := fields.text(format, ["status"])

violations contains v if {
	status == "invalid"
	some i, problem in fields.list(format, ["problems"])
	said := sprintf("%s (%v times)", [fields.text(problem, ["message"]), evidence.number(problem, ["count"])])
	v := evidence.violation(["format", "problems", i], said, fields.get(problem, ["examples"], null), "a valid document")
}

violations contains v if {
	status == "invalid"
	deep := fields.mapping(format, ["deep"])
	some i, problem in fields.list(deep, ["problems"])
	v := evidence.violation(["format", "deep", "problems", i], fields.text(problem, ["message"]), null, "a valid document")
}

violations contains evidence.undecided(["format", "status"], reason) if not status in {"valid", "invalid"}

reason := said if {
	said := fields.text(format, ["reason"])
	said != ""
} else := "nothing is known of its format"
