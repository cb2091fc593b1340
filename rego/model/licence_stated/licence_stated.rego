# METADATA
# scope: package
# title: A model says under which licence it stands
# description: |
#   Without a licence nobody may use a model, and nobody notices. Read are the front matter of the model card and the headers of GGUF and
#   safetensors files. "other" counts by the name beside it (license_name), and "unknown" says nothing.
# related_resources:
#   - ref: https://huggingface.co/docs/hub/repositories-licenses
#   - ref: https://isitopen.ai/
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: no_model
#   remediation: Ask the owner of the model, and write the licence into the front matter of README.md.
package model.licence_stated

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

status := fields.text(evidence.spec, ["licence", "status"])

violations contains v if {
	status == "absent"
	v := evidence.violation(["licence", "status"], "neither its card nor its files state a licence", status, "stated")
}

violations contains v if {
	not status in {"stated", "absent"}
	v := evidence.undecided(["licence", "status"], "its card can't be read, so that its licence is not known")
}

violations contains v if {
	status == "stated"
	count(fields.list(evidence.spec, ["licence", "names"])) == 0
	v := evidence.undecided(["licence", "names"], "no licence is named")
}
