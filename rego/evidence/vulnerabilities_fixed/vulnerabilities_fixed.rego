# METADATA
# scope: package
# title: The scan found nothing of the severities that must be fixed
# description: |
#   Reports of Trivy, and of any scanner in SARIF. Findings of the severities and kinds of the parameters fail, each with its fix when
#   there is one. What whoever made the report set aside (suppressions in SARIF, ignored and modified findings of Trivy) still counts,
#   unless a parameter trusts the source. An OpenVEX document among the inputs of the same cluster that says not_affected, with a
#   justification, or fixed takes a vulnerability away, but only for the product that it names, and only when a parameter names its
#   author. An operating system that its maker no longer supports fails: nobody lists its vulnerabilities. A scan that looked at nothing
#   is not clean, and a severity that nobody knows is not low: both leave the pair undecided.
# related_resources:
#   - ref: https://trivy.dev/latest/docs/configuration/reporting/
#   - ref: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
#   - ref: https://github.com/openvex/spec
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [VulnerabilityReport]}]}
#   not_applicable: no_scan_facts
#   context:
#     - {group: artifacts.fleetaudit.dev, kinds: [VexDocument], fields: [spec.statements, spec.author]}
#   remediation: Update the package to the version named, or rebuild the image; where the code is not reachable, say so in a VEX document.
package evidence.vulnerabilities_fixed

import data.lib.evidence
import data.lib.object as fields
import data.lib.vex

default applies := false

applies if is_object(input)

parameters := data.parameters["evidence/vulnerabilities-fixed"]

status := fields.text(evidence.spec, ["status"])

findings := fields.list(evidence.spec, ["findings"])

open := [{"at": i, "finding": finding} |
	some i, finding in findings
	fields.text(finding, ["kind"]) in parameters.kinds
	not evidence.fits(fields.text(finding, ["id"]), parameters.ignored)
	fixable(finding)
	not accepted(finding)
	not vex.answered(finding, fields.mapping(evidence.spec, ["subject"]), parameters.vex_authors)
]

violations contains v if {
	some entry in open
	fields.text(entry.finding, ["severity"]) in parameters.severities
	v := evidence.violation(["findings", entry.at], named(entry.finding), fields.get(entry.finding, ["version"], null), fix(entry.finding))
}

violations contains v if {
	some entry in open
	not fields.text(entry.finding, ["severity"]) in known
	v := evidence.undecided(["findings", entry.at, "severity"], sprintf("%s: its severity is not known", [named(entry.finding)]))
}

violations contains evidence.undecided(["status"], "nothing was scanned") if status != "scanned"

violations contains v if {
	"vulnerability" in parameters.kinds
	some i, system in fields.list(evidence.spec, ["unsupported_systems"])
	said := sprintf("%s is no longer supported by its maker: its vulnerabilities are not all known, and not mended", [system])
	v := evidence.violation(["unsupported_systems", i], said, system, "a supported operating system")
}

violations contains v if {
	unscanned := fields.list(evidence.spec, ["unscanned"])
	count(unscanned) > 0
	v := evidence.undecided(["unscanned"], sprintf("could not be scanned: %s", [evidence.some_of(unscanned)]))
}

# A list that is missing says nothing.
violations contains v if {
	some key in ["unsupported_systems", "unscanned"]
	not is_array(fields.get(evidence.spec, [key], null))
	v := evidence.undecided([key], "nothing is known of it")
}

# A scan for secrets or settings alone says nothing about vulnerabilities.
violations contains v if {
	"vulnerability" in parameters.kinds
	fields.text(evidence.spec, ["form"]) == "trivy"
	not packages_scanned
	v := evidence.undecided(["targets"], "no packages were scanned for vulnerabilities")
}

# A SARIF file doesn't say what was looked for: without one vulnerability in it, perhaps none was.
violations contains v if {
	"vulnerability" in parameters.kinds
	fields.text(evidence.spec, ["form"]) == "sarif"
	every finding in findings { fields.text(finding, ["kind"]) != "vulnerability" }
	v := evidence.undecided(["findings"], "the results name no vulnerability, and do not say that any was looked for")
}

# Old versions name no class.
packages_scanned if {
	some target in fields.list(evidence.spec, ["targets"])
	fields.text(target, ["class"]) in {"os-pkgs", "lang-pkgs", ""}
}

# The worst are listed first, so that what is left out matters only when it is of a severity that is asked for.
violations contains v if {
	some kind in parameters.kinds
	some severity in array.concat(parameters.severities, ["UNKNOWN"])
	counted := evidence.number(evidence.spec, ["counts", kind, severity])
	listed := count([1 |
		some finding in findings
		fields.text(finding, ["kind"]) == kind
		fields.text(finding, ["severity"]) == severity
	])
	counted > listed
	v := evidence.undecided(["left_out"], sprintf("%v findings of kind %s, severity %s, were not listed", [counted - listed, kind, severity]))
}

violations contains v if {
	status == "scanned"
	not is_array(fields.get(evidence.spec, ["findings"], null))
	v := evidence.undecided(["findings"], "its findings are not known")
}

known := {"CRITICAL", "HIGH", "MEDIUM", "LOW"}

# Set aside, and by somebody who is trusted with that.
accepted(finding) if {
	fields.text(finding, ["set_aside", "status"]) in takes_away
	evidence.believed([finding.set_aside], parameters.trusted_suppressions)
}

takes_away := {"accepted", "exception", "fixed", "ignored", "not_affected"}

fixable(_) if parameters.only_with_fix == false

fixable(finding) if {
	parameters.only_with_fix == true
	fields.text(finding, ["kind"]) != "vulnerability"
}

fixable(finding) if {
	parameters.only_with_fix == true
	fields.text(finding, ["fixed"]) != ""
}

named(finding) := concat(" ", [part |
	some part in [
		fields.text(finding, ["id"]),
		sprintf("(%s)", [fields.text(finding, ["severity"])]),
		fields.text(finding, ["package"]),
		fields.text(finding, ["resource"]),
		fields.text(finding, ["target"]),
		put_aside(finding),
	]
	part != ""
])

put_aside(finding) := sprintf("(set aside: %s, by %s)", [status, fields.text(finding, ["set_aside", "source"])]) if {
	status := fields.text(finding, ["set_aside", "status"])
	status != ""
} else := ""

fix(finding) := sprintf("version %s", [fields.text(finding, ["fixed"])]) if {
	fields.text(finding, ["fixed"]) != ""
} else := "no such finding"
