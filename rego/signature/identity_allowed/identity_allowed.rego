# METADATA
# scope: package
# title: Signatures are by somebody who may sign
# description: |
#   A right signature says that somebody has signed, and anybody can. The signer must be one whom the policy of the file names:
#   an identity with its issuer, or a key. Asked of signatures that are right and that a policy speaks of; without a policy
#   nobody has said who may sign, and nothing is judged.
# related_resources:
#   - ref: https://docs.sigstore.dev/cosign/verifying/verify/
#   - ref: https://baseline.openssf.org/versions/2026-02-19#osps-br-06
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [SignatureBundle]}]}
#   not_applicable: not_configured
#   remediation: >-
#     Have the file signed by the release workflow or key that the policy names. If the signer is right, add it to the policy,
#     with its issuer and as narrow as possible.
package signature.identity_allowed

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if {
	is_object(input)
	not not_asked
}

not_asked if fields.get(evidence.spec, ["signature_valid"], null) == false

not_asked if signature.code == "no_policy"

violations contains v if {
	signature.wrong
	seen := signature.signer(fields.get(evidence.spec, ["identity"], null))
	v := evidence.violation(["identity"], signature.message, seen, "a signer that the policy names")
}

violations contains evidence.undecided(["status"], signature.message) if {
	not signature.wrong
	not signature.good
}
