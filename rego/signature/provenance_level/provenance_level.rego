# METADATA
# scope: package
# title: Provenance is by a builder assessed at the level asked for
# description: |
#   Provenance says who built something and from what; anybody can write it. It counts at the level at which the policy says
#   that somebody has assessed the builder, and only when a signer whom the policy trusts for that very builder has signed it. A
#   level that provenance claims for itself is not read. Asked where the policy names builders.
# related_resources:
#   - ref: https://slsa.dev/spec/v1.2/verifying-artifacts
#   - ref: https://slsa.dev/spec/v1.2/build-track-basics
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Provenance]}]}
#   not_applicable: not_configured
#   remediation: >-
#     Build on a hosted platform that signs provenance itself, and add it with its signer and level to the policy once somebody
#     has assessed it.
package signature.provenance_level

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if {
	is_object(input)
	reason != "no_builders_configured"
}

reason := fields.text(evidence.spec, ["level_reason"])

level := fields.get(evidence.spec, ["level"], null)

least := data.parameters["signature/provenance-level"].min_level

violations contains v if {
	signature.good
	is_number(level)
	level < least
	said := sprintf("level %v: %s", [level, replace(reason, "_", " ")])
	v := evidence.violation(["level"], said, fields.get(evidence.spec, ["builder_id"], null), sprintf("level %v", [least]))
}

violations contains v if {
	signature.wrong
	v := evidence.violation(["status"], signature.message, signature.code, "provenance that an allowed signer vouches for")
}

violations contains evidence.undecided(["level"], "its level is not known") if {
	signature.good
	not is_number(level)
}

violations contains evidence.undecided(["status"], signature.message) if {
	not signature.good
	not signature.wrong
}
