# METADATA
# scope: package
# title: A model brings no code of its own
# description: |
#   A model whose configuration names classes of its own (auto_map, custom_pipelines) is loaded only with trust_remote_code, and then runs
#   what lies beside the weights, or what another repository holds at that moment. The configuration files of the folder are read;
#   a reference to another repository is told apart. A file that can't be read may name some, and leaves the model undecided.
# related_resources:
#   - ref: https://huggingface.co/docs/transformers/main/en/models#custom-models
#   - ref: https://genai.owasp.org/llmrisk/llm032025-supply-chain/
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: no_model
#   remediation: Use the implementation that the library ships, or review the code, keep it in an image of your own and pin it.
package model.custom_code_absent

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

code := fields.mapping(evidence.spec, ["code"])

named := fields.list(code, ["named", "listed"])

violations contains v if {
	some i, one in named
	said := sprintf("%s names code of %s: %s", [fields.text(one, ["file"]), owner(one), fields.text(one, ["reference"])])
	v := evidence.violation(["code", "named", "listed", i], said, fields.text(one, ["reference"]), null)
}

violations contains v if {
	more := evidence.number(code, ["named", "count"]) - count(named)
	more > 0
	v := evidence.violation(["code", "named", "count"], sprintf("%v more classes of its own", [more]), null, 0)
}

violations contains v if {
	some i, one in fields.list(code, ["unread"])
	said := sprintf("%s can't be read: %s", [fields.text(one, ["name"]), fields.text(one, ["reason"])])
	v := evidence.undecided(["code", "unread", i], said)
}

violations contains v if {
	not known
	v := evidence.undecided(["code", "status"], "nothing is known of the code that it names")
}

known if {
	fields.text(code, ["status"]) in {"read", "unknown"}
	is_number(fields.get(code, ["named", "count"], null))
}

owner(one) := "another repository" if {
	one.remote == true
} else := "its own"
