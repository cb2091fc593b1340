# METADATA
# scope: package
# title: Every model is signed by an allowed signer
# description: |
#   signature/model-signed judges the signatures that are there; this rule asks for one. A model passes when its folder, or each file of its
#   weights, is signed (OpenSSF Model Signing) by a signer whom the policy names. A signature that could not be checked leaves it
#   undecided. Not asked while no signed model is among the inputs, unless the parameter requires signatures.
# related_resources:
#   - ref: https://github.com/ossf/model-signing-spec
#   - ref: https://github.com/sigstore/model-transparency
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: not_configured
#   context:
#     - {group: artifacts.fleetaudit.dev, kinds: [SignedModel], fields: [spec.folder, spec.file, spec.status, spec.message]}
#   remediation: Sign the model where it is made, hand the signature in beside it, and name the signer in the policy for signatures.
package model.signature_present

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	asked
}

asked if count(signatures) > 0

asked if data.parameters["model/signature-present"].required == true

signatures := fields.everywhere("artifacts.fleetaudit.dev/SignedModel")

folder := fields.text(evidence.spec, ["folder"])

# Those that lie with this model.
near := [signature |
	folder != ""
	some signature in signatures
	fields.text(signature, ["spec", "folder"]) == folder
]

# Signatures of the folder as a whole.
whole := [signature | some signature in near; fields.text(signature, ["spec", "file"]) == ""]

good(signature) if fields.text(signature, ["spec", "status"]) == "verified"

wrong(signature) if fields.text(signature, ["spec", "status"]) in {"invalid", "wrong_identity", "unsigned"}

covered if {
	some signature in whole
	good(signature)
}

# File by file.
covered if {
	names := [fields.text(one, ["name"]) | some one in fields.list(evidence.spec, ["weights", "listed"])]
	count(names) > 0
	count(names) == evidence.number(evidence.spec, ["weights", "count"])
	signed := {fields.text(signature, ["spec", "file"]) | some signature in near; good(signature)}
	every name in names {
		name in signed
	}
}

default open := false

# Nobody knows what one of them is worth.
open if {
	some signature in near
	not good(signature)
	not wrong(signature)
}

violations contains v if {
	folder != ""
	not covered
	not open
	v := evidence.violation(["folder"], said, folder, "a signature by those whom the policy names")
}

violations contains v if {
	folder != ""
	not covered
	open
	v := evidence.undecided(["folder"], "a signature of it could not be checked")
}

violations contains v if {
	folder == ""
	v := evidence.undecided(["folder"], "nothing is known of where it lies")
}

said := sprintf("it is signed, but %s", [reason]) if {
	reasons := [reason |
		some signature in near
		wrong(signature)
		reason := fields.text(signature, ["spec", "message"])
	]
	count(reasons) > 0
	reason := reasons[0]
} else := "nobody has signed it"
