# METADATA
# scope: package
# title: Licences of models are among those allowed
# description: |
#   Each licence that a model's card or files state must be on the list of allowed ones, where there is such a list, and on none of the
#   denied. Names are compared as they are written, apart from capitals; patterns may hold *. A model with no licence, or with one that
#   nobody could read, is undecided here; model/licence-stated fails it.
# related_resources:
#   - ref: https://huggingface.co/docs/hub/repositories-licenses
#   - ref: https://spdx.org/licenses/
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Model]}]}
#   not_applicable: not_configured
#   remediation: Use another model, agree another licence, or add the licence to the list after review.
package model.licence_allowed

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	count(allow) + count(deny) > 0
}

allow := data.parameters["model/licence-allowed"].allow

deny := data.parameters["model/licence-allowed"].deny

names := fields.list(evidence.spec, ["licence", "names"])

stated if {
	fields.text(evidence.spec, ["licence", "status"]) == "stated"
	count(names) > 0
}

violations contains v if {
	some i, one in names
	name := fields.text(one, ["name"])
	name != ""
	not permitted(name)
	v := evidence.violation(["licence", "names", i], sprintf("%s is not allowed", [name]), name, "an allowed licence")
}

violations contains v if {
	some i, one in names
	fields.text(one, ["name"]) == ""
	v := evidence.undecided(["licence", "names", i], "a licence without a name")
}

violations contains evidence.undecided(["licence", "status"], "its licence is not known") if not stated

permitted(name) if {
	not evidence.fits(name, deny)
	on_the_list(name)
} else := false

on_the_list(_) if count(allow) == 0

on_the_list(name) if {
	count(allow) > 0
	evidence.fits(name, allow)
}
