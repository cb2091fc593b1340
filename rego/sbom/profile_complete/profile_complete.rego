# METADATA
# scope: package
# title: A bill of materials is complete by the lists that are asked for
# description: |
#   Beyond the NTIA minimum: "cisa", the baseline of Framing Software Component Transparency (hash, licence, copyright holder and a
#   look-up identifier besides), and "bsi", the required fields of TR-03183-2 (SHA-512, file name, and whether a component is
#   executable, an archive, structured). What the format has no agreed place for is not judged, and the pair is undecided when
#   everything else is there.
# related_resources:
#   - ref: https://www.cisa.gov/resources-tools/resources/framing-software-component-transparency-2024
#   - ref: https://www.bsi.bund.de/EN/Themen/Unternehmen-und-Organisationen/Standards-und-Zertifizierung/Technische-Richtlinien/TR-nach-Thema-sortiert/tr03183/TR-03183_node.html
# custom:
#   severity: low
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: not_configured
#   remediation: Add the fields named, or drop the list from the parameter when nobody asks for it.
package sbom.profile_complete

import data.lib.evidence
import data.lib.object as fields
import data.lib.sbom_elements

default applies := false

applies if {
	is_object(input)
	count(profiles) > 0
}

profiles := data.parameters["sbom/profile-complete"].profiles

violations contains v if some v in evidence.of_a_broken_document

violations contains v if {
	some profile in profiles
	some v in sbom_elements.missing(profile, data.parameters["sbom/profile-complete"].max_missing_percent)
}

violations contains v if {
	some profile in profiles
	unchecked := fields.list(evidence.spec, ["completeness", profile, "unchecked"])
	count(unchecked) > 0
	said := sprintf("%s: no agreed place in this format for %s", [profile, evidence.some_of(unchecked)])
	v := evidence.undecided(["completeness", profile, "unchecked"], said)
}
