# METADATA
# scope: package
# title: The asset label of a model is there and valid
# description: |
#   The label in config.json says what the asset is (asset_id), how sensitive (sensitivity_level 1, 3 or 5), which personal fields it was
#   made from (pii_fields) and how long it is kept (retention_policy). It must satisfy the published JSON Schema, an adapter is of level 3
#   at least, and what lists personal fields is not of level 1. A label that is there is always judged; its absence fails once the
#   parameter requires labels.
# related_resources:
#   - ref: https://json-schema.org/draft/2020-12
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: no_label_and_none_required
#   remediation: Write the four entries into config.json; docs/schema/fleetaudit-asset-label-v1.schema.json says how they look.
#   fix: |
#     {"asset_id": "models/chat-7b", "sensitivity_level": 3, "pii_fields": [], "retention_policy": "P365D"}
package model.asset_label_valid

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	status != "absent"
}

applies if {
	is_object(input)
	required
}

required if data.parameters["model/asset-label-valid"].required == true

label := fields.mapping(evidence.spec, ["label"])

status := fields.text(label, ["status"])

violations contains v if {
	status == "invalid"
	some i, problem in fields.list(label, ["problems"])
	said := sprintf("%s: %s", [fields.text(problem, ["place"]), fields.text(problem, ["message"])])
	v := evidence.violation(["label", "problems", i], said, null, "an entry as the schema has it")
}

violations contains v if {
	status == "invalid"
	count(fields.list(label, ["problems"])) == 0
	v := evidence.violation(["label", "status"], "the label is not valid", status, "valid")
}

violations contains v if {
	status == "absent"
	required
	v := evidence.violation(["label", "status"], "config.json has no asset label", status, "valid")
}

violations contains v if {
	not status in {"valid", "invalid", "absent"}
	v := evidence.undecided(["label", "status"], sprintf("nothing is known of its label%s", [why]))
}

why := sprintf(": %s", [reason]) if {
	reason := fields.text(evidence.spec, ["config", "reason"])
	reason != ""
} else := ""
