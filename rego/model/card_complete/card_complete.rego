# METADATA
# scope: package
# title: A model card has its sections and fields
# description: |
#   A card says what the model is for, where it fails, what it was trained on and how it was tested. For each entry of the parameter
#   sections one heading must fit a pattern and have text below it, and each field of the parameter fields must stand in the front matter.
#   Whether what is written there is true is for people to judge.
# related_resources:
#   - ref: https://huggingface.co/docs/hub/model-cards
#   - ref: https://isitopen.ai/
# custom:
#   severity: low
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [ModelCard]}]}
#   not_applicable: no_card
#   remediation: Fill the sections that are missing; the template of the model hub names them.
package model.card_complete

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

parameters := data.parameters["model/card-complete"]

status := fields.text(evidence.spec, ["status"])

sections := fields.list(evidence.spec, ["sections"])

violations contains v if {
	status == "read"
	some name, patterns in parameters.sections
	not written(patterns)
	v := evidence.violation(["sections"], sprintf("no section with text on: %s", [name]), null, patterns)
}

violations contains v if {
	status == "read"
	some name in parameters.fields
	value := fields.get(evidence.spec, ["fields", name], null)
	fields.absent(value)
	v := evidence.violation(["fields", name], sprintf("the front matter does not say: %s", [name]), null, name)
}

violations contains v if {
	status != "read"
	v := evidence.undecided(["status"], sprintf("the card can't be read: %s", [fields.text(evidence.spec, ["reason"])]))
}

written(patterns) if {
	some section in sections
	evidence.number(section, ["characters"]) > 0
	evidence.fits(fields.text(section, ["title"]), patterns)
} else := false
