# METADATA
# scope: package
# title: A bill of materials has the NTIA minimum elements
# description: |
#   The minimum elements of 2021: author, time, and for each component supplier, name, version, an identifier and a relationship, mapped
#   as in annex K.2 of SPDX 2.3. NOASSERTION counts as missing. One violation for each element that is missing in more components than
#   the parameter allows, with the number.
# related_resources:
#   - ref: https://www.ntia.gov/page/software-bill-materials
#   - ref: https://spdx.github.io/spdx-spec/v2.3/how-to-use/
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_completeness_facts
#   remediation: Let the generator state supplier, version and relationship of each component, or add them by hand.
package sbom.ntia_complete

import data.lib.evidence
import data.lib.sbom_elements

default applies := false

applies if is_object(input)

violations contains v if some v in evidence.of_a_broken_document

violations contains v if some v in sbom_elements.missing("ntia", data.parameters["sbom/ntia-complete"].max_missing_percent)
