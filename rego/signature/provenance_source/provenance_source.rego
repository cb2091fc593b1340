# METADATA
# scope: package
# title: Things are built from the source and by the workflow that were expected
# description: |
#   A trusted builder builds whatever it is told to. The repository, and where the policy says so the ref, the workflow and the
#   build type, must be among those expected, and no external parameter may be set that nobody expects. Believed only of
#   provenance that an allowed signer has signed. Asked where the policy has expectations.
# related_resources:
#   - ref: https://slsa.dev/spec/v1.2/verifying-artifacts
#   - ref: https://slsa.dev/spec/v1.2/build-provenance
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Provenance]}]}
#   not_applicable: not_configured
#   remediation: >-
#     Build from the expected repository and ref, with the release workflow. If the source is right, add it to the expectations
#     of the policy.
package signature.provenance_source

import data.lib.evidence
import data.lib.object as fields
import data.lib.signature

default applies := false

applies if {
	is_object(input)
	not nothing_expected
}

names := ["source", "ref", "workflow", "build_type", "parameters"]

checks := fields.mapping(evidence.spec, ["checks"])

nothing_expected if {
	every name in names {
		checks[name] == "not_configured"
	}
}

# Where the value of a check stands.
places := {
	"source": ["source", "uri"],
	"ref": ["source", "ref"],
	"workflow": ["workflow"],
	"build_type": ["build_type"],
	"parameters": ["external_parameters"],
}

violations contains v if {
	signature.good
	some name in names
	fields.text(checks, [name]) == "wrong"
	v := evidence.violation(places[name], unexpected(name), fields.get(evidence.spec, places[name], null), null)
}

violations contains v if {
	signature.good
	some name in names
	not fields.text(checks, [name]) in {"wrong", "expected", "not_configured"}
	v := evidence.undecided(places[name], sprintf("the provenance does not say its %s in a way that is understood", [replace(name, "_", " ")]))
}

violations contains v if {
	signature.wrong
	v := evidence.violation(["status"], signature.message, signature.code, "provenance that an allowed signer vouches for")
}

violations contains evidence.undecided(["status"], signature.message) if {
	not signature.good
	not signature.wrong
}

unexpected("parameters") := "an external parameter is set that nobody expects"

unexpected(name) := sprintf("the %s is not one that is expected", [replace(name, "_", " ")]) if name != "parameters"
