# METADATA
# scope: package
# title: A model has a card
# description: |
#   Who uses a model must be able to read what it is for and what it cannot do. The folder of the model must hold a README.md with text of
#   at least the length of the parameter; front matter, comments and what a template leaves to be filled in do not count as text.
# related_resources:
#   - ref: https://huggingface.co/docs/hub/model-cards
#   - ref: https://arxiv.org/abs/1810.03993
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: no_model
#   remediation: Write a README.md into the folder of the model, or take the one of its source along.
package model.card_present

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

card := fields.mapping(evidence.spec, ["card"])

status := fields.text(card, ["status"])

least := data.parameters["model/card-present"].min_characters

violations contains v if {
	status == "absent"
	v := evidence.violation(["card", "status"], "the folder has no README.md", status, "read")
}

violations contains v if {
	status == "read"
	length := fields.get(card, ["characters"], null)
	is_number(length)
	length < least
	v := evidence.violation(["card", "characters"], sprintf("the card holds %v characters of text", [length]), length, least)
}

violations contains v if {
	status == "read"
	not is_number(fields.get(card, ["characters"], null))
	v := evidence.undecided(["card", "characters"], "nothing is known of its text")
}

violations contains v if {
	not status in {"read", "absent"}
	v := evidence.undecided(["card", "status"], sprintf("the card can't be read: %s", [fields.text(card, ["reason"])]))
}
