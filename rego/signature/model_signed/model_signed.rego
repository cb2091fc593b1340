# METADATA
# scope: package
# title: Models are signed, file for file
# description: |
#   Who can write to a model's folder can change its weights, or add code that is run when it is loaded. The signed list of a model
#   (OpenSSF Model Signing) must be by a signer whom the policy names, and the folder must hold exactly what it lists: nothing changed,
#   missing or added, and no link that the signer did not allow. What the signer left out on purpose (version control, notes) is counted; weights, code and libraries
#   below such paths fail, because whoever writes them needs no signature.
# related_resources:
#   - ref: https://github.com/ossf/model-signing-spec
#   - ref: https://github.com/sigstore/model-transparency
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [SignedModel]}]}
#   not_applicable: no_signature_facts
#   remediation: >-
#     Find out who changed the files. Then take the model from its source again, or sign it anew, with nothing in its folder that does not
#     belong to it.
package signature.model_signed

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if is_object(input)

differences := fields.mapping(evidence.spec, ["differences"])

words := {
	"changed": "files are not those that were signed",
	"missing": "signed files are missing",
	"unsigned": "files are there that nobody signed",
	"links": "links are there that the signer did not allow",
	"loadable": "files that can be loaded or run lie where the signer looked away",
}

violations contains v if {
	some kind, words_of in words
	count_of := evidence.number(differences, [kind, "count"])
	count_of > 0
	names := fields.list(differences, [kind, "listed"])
	v := evidence.violation(["differences", kind], sprintf("%v %s", [count_of, words_of]), evidence.some_of(names), null)
}

violations contains v if {
	signature.code != "model_differs"
	some v in signature.verdict("a list of files signed by those whom the policy names")
}

violations contains v if {
	signature.code == "model_differs"
	count(differences) == 0
	some v in signature.verdict("the files that were signed")
}

violations contains evidence.undecided(["differences"], "nothing is known of the files of the model") if {
	signature.good
	count(differences) == 0
}
