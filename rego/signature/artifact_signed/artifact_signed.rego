# METADATA
# scope: package
# title: Artifacts that must be signed are signed
# description: |
#   A policy may say that what its globs name must be signed. Asked of each such file: a signature beside it, or in its folder
#   with its digest, must be right and by the signers that the policy asks for, as many as it asks for. Unsigned, wrongly signed
#   and signed by a stranger are told apart; what could not be checked is undecided.
# related_resources:
#   - ref: https://baseline.openssf.org/versions/2026-02-19#osps-br-06
#   - ref: https://github.com/ossf/scorecard/blob/main/docs/checks.md#signed-releases
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [SignedArtifact]}]}
#   not_applicable: no_signature_facts
#   remediation: >-
#     Sign the file in the workflow that builds it, and publish the bundle beside it as NAME.sigstore.json.
package signature.artifact_signed

import data.lib.signature

default applies := false

applies if is_object(input)

violations := signature.verdict("a signature by those whom the policy names")
