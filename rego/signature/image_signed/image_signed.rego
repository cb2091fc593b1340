# METADATA
# scope: package
# title: Images are signed by somebody who may sign
# description: |
#   Who can write to a registry, or swap an archive, can replace an image. Looks at images on disk, and in the registries that
#   the configuration names: the signatures of cosign, as layers and as bundles, those that an index does not list included. They
#   must be right, be about this very manifest, and be by the signers that the policy names. Statements of other types say
#   nothing about who released an image. Asked of images that a policy wants signed, and of those that have a signature.
# related_resources:
#   - ref: https://docs.sigstore.dev/cosign/verifying/verify/
#   - ref: https://github.com/opencontainers/image-spec/blob/main/image-layout.md
#   - ref: https://baseline.openssf.org/versions/2026-02-19#osps-br-06
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [ImageSignatures]}]}
#   not_applicable: not_configured
#   remediation: >-
#     Sign the image by digest in the workflow that builds it, with cosign sign IMAGE@DIGEST, and save what is kept on
#     disk together with its signatures.
package signature.image_signed

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if {
	is_object(input)
	not not_asked
}

not_asked if {
	fields.get(evidence.spec, ["required"], null) == false
	signature.status in {"unsigned", "could_not_check"}
	fields.get(evidence.spec, ["signatures"], null) == []
}

violations := signature.verdict("a signature by those whom the policy names")
