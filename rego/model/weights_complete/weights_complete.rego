# METADATA
# scope: package
# title: All files that a model is made of are there, and lie inside of it
# description: |
#   Large models come in parts, and an index names them. Each part must lie in the folder; a name that leads out of it, and a link, which
#   may lead anywhere and change without the model changing, are failures. A model without any weights that are known is undecided.
# related_resources:
#   - ref: https://huggingface.co/docs/transformers/main/en/big_models
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: no_model
#   remediation: Fetch the model again as a whole, as files and not as links into a cache.
package model.weights_complete

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

shards := fields.mapping(evidence.spec, ["shards"])

status := fields.text(shards, ["status"])

words := {
	["shards", "missing"]: "files that the index names are not there",
	["shards", "outside"]: "files that the index names would lie outside of the model",
	["links"]: "links stand where files should",
}

violations contains v if {
	some path, said in words
	number := evidence.number(evidence.spec, array.concat(path, ["count"]))
	number > 0
	names := fields.list(evidence.spec, array.concat(path, ["listed"]))
	v := evidence.violation(path, sprintf("%v %s", [number, said]), evidence.some_of(names), null)
}

violations contains v if {
	status == "malformed"
	v := evidence.violation(["shards", "status"], fields.text(shards, ["reason"]), status, "complete")
}

violations contains v if {
	not status in {"none", "complete", "incomplete", "malformed"}
	v := evidence.undecided(["shards", "status"], "nothing is known of the files that it is made of")
}

violations contains v if {
	status == "incomplete"
	evidence.number(shards, ["missing", "count"]) + evidence.number(shards, ["outside", "count"]) == 0
	v := evidence.violation(["shards", "status"], "files that the index names are not there", status, "complete")
}

violations contains v if {
	evidence.number(evidence.spec, ["weights", "count"]) == 0
	v := evidence.undecided(["weights", "count"], "no weights that are known lie in the folder")
}

violations contains v if {
	not is_number(fields.get(evidence.spec, ["links", "count"], null))
	v := evidence.undecided(["links"], "nothing is known of links in it")
}
