# METADATA
# scope: package
# title: A bill of materials is not too old
# description: |
#   An old list describes what was built then. The time of creation must be stated, lie in the past, and not be longer ago than the
#   parameter says. A time that is missing or can't be read leaves the pair undecided.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/document-creation-information/#69-created-field
# custom:
#   severity: low
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_time_facts
#   remediation: Generate it anew with every build.
package sbom.fresh

import data.lib.age
import data.lib.evidence

default applies := false

applies if is_object(input)

violations contains v if some v in evidence.of_a_broken_document

violations contains evidence.undecided(["content", "status"], evidence.why_unread) if not evidence.read

violations contains v if {
	evidence.read
	some v in age.too_old(["created"], data.parameters["sbom/fresh"].max_age_days)
}
