# METADATA
# scope: package
# title: Signatures are right
# description: |
#   A signature that does not belong to its file, was made after its certificate had expired, or is not in the log that it
#   names, is worse than none: somebody will trust it. Verified offline, down to the root of trust: signature, certificate and
#   its publication, log entry, time, digest of the file beside it, and the times in which authorities and logs were trusted.
#   What could not be checked is undecided.
# related_resources:
#   - ref: https://docs.sigstore.dev/about/bundle/
#   - ref: https://github.com/sigstore/protobuf-specs
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [SignatureBundle]}]}
#   not_applicable: no_signature_facts
#   remediation: >-
#     Sign the released file again and put the new bundle beside it. Where the message is about the file, find out who changed
#     it first.
package signature.bundle_valid

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if is_object(input)

valid := fields.get(evidence.spec, ["signature_valid"], null)

violations contains v if {
	valid == false
	v := evidence.violation(["signature_valid"], signature.message, signature.code, "a right signature")
}

violations contains evidence.undecided(["signature_valid"], signature.message) if not is_boolean(valid)
