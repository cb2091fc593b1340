# METADATA
# scope: package
# title: OpenSSF Scorecard gives the project enough
# description: |
#   The aggregate must reach the parameter, and so must each check that the parameter names. A check that is inconclusive (-1), or is not
#   in the result at all, leaves the pair undecided: not determined is not zero, and no pass. So does a result without an aggregate.
# related_resources:
#   - ref: https://github.com/ossf/scorecard/blob/main/docs/checks.md
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [ScorecardResult]}]}
#   not_applicable: no_scorecard_facts
#   remediation: Follow the remediation of the check in Scorecard's own documentation; give it a token for checks that need one.
package evidence.scorecard_minimum

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

minimum := data.parameters["evidence/scorecard-minimum"].min_score

wanted := data.parameters["evidence/scorecard-minimum"].checks

score := fields.mapping(evidence.spec, ["score"])

violations contains v if {
	known(score)
	score.value < minimum
	v := evidence.violation(["score", "value"], sprintf("%v of 10, at least %v is asked for", [score.value, minimum]), score.value, minimum)
}

violations contains v if {
	not known(score)
	v := evidence.undecided(["score", "status"], "there is no conclusive aggregate score")
}

violations contains v if {
	some name, least in wanted
	some i, check in fields.list(evidence.spec, ["checks"])
	fields.text(check, ["name"]) == name
	conclusive(check)
	check.score < least
	said := sprintf("%s: %v of 10, at least %v is asked for", [name, check.score, least])
	v := evidence.violation(["checks", i, "score"], said, check.score, least)
}

violations contains v if {
	some name, _ in wanted
	not scored(name)
	v := evidence.undecided(["checks"], sprintf("%s is inconclusive, or not in the result", [name]))
}

known(found) if {
	fields.text(found, ["status"]) == "known"
	is_number(object.get(found, "value", null))
} else := false

scored(name) if {
	some check in fields.list(evidence.spec, ["checks"])
	fields.text(check, ["name"]) == name
	conclusive(check)
} else := false

conclusive(check) if {
	fields.text(check, ["status"]) == "scored"
	is_number(object.get(check, "score", null))
} else := false
