# METADATA
# scope: package
# title: The trusted root is the one that was chosen, and not old
# description: |
#   Every keyless signature rests on a list of authorities and logs. An old list trusts keys that have been withdrawn since, and
#   a swapped one trusts anybody. The list must have the digest that the configuration pins, and be no older than it allows,
#   counted from the day on which it says that the list was fetched. Without that day, and for signatures made with keys,
#   nothing is asked.
# related_resources:
#   - ref: https://docs.sigstore.dev/about/threat-model/
#   - ref: https://github.com/sigstore/root-signing
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [SignatureBundle]}]}
#   not_applicable: not_configured
#   remediation: >-
#     Fetch trusted_root.json anew through TUF, for example with cosign initialize, review what changed, and write its digest
#     and the day into the configuration.
package signature.root_fresh

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(fields.get(evidence.spec, ["root"], null))
	status != "unknown"
}

root := fields.mapping(evidence.spec, ["root"])

status := fields.text(root, ["status"])

reasons := {
	"stale": "the trusted root is older than the configuration allows",
	"differs": "the trusted root does not have the digest that the configuration pins",
	"from_the_future": "the trusted root is said to be fetched on a day that has not come yet",
}

violations contains v if {
	reason := reasons[status]
	v := evidence.violation(["root", "status"], reason, seen, expected)
}

violations contains evidence.undecided(["root", "status"], "the trusted root can't be read, so its age and digest are not known") if {
	not reasons[status]
	status != "fresh"
}

seen := fields.get(root, ["sha256"], null) if {
	status == "differs"
} else := fields.get(root, ["fetched"], null)

expected := fields.get(root, ["expected_sha256"], null) if {
	status == "differs"
} else := sprintf("%v days at most", [fields.get(root, ["max_age_days"], "unknown")])
