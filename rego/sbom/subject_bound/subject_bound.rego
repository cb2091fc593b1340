# METADATA
# scope: package
# title: A bill of materials names what it describes by digest
# description: |
#   A name and a tag can mean another image tomorrow. The document must say what it describes, and give a digest of each: a checksum of
#   the described package or file, a package URL with a digest, or the digest as the version. Weak algorithms don't count.
# related_resources:
#   - ref: https://spdx.github.io/spdx-spec/v2.3/package-information/#710-package-checksum-field
#   - ref: https://github.com/package-url/purl-spec
# custom:
#   severity: medium
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [Sbom]}]}
#   not_applicable: no_subject_facts
#   remediation: Generate the document from the image by digest, and not from a folder or a tag.
package sbom.subject_bound

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

subjects := fields.list(evidence.spec, ["subjects", "listed"])

violations contains v if some v in evidence.of_a_broken_document

violations contains v if {
	evidence.read
	count(subjects) == 0
	is_array(fields.get(evidence.spec, ["subjects", "listed"], null))
	v := evidence.violation(["subjects", "listed"], "it doesn't say what it describes", null, "a subject with a digest")
}

violations contains v if {
	evidence.read
	some i, subject in subjects
	not bound(subject)
	said := sprintf("no digest of %s", [name(subject)])
	v := evidence.violation(["subjects", "listed", i, "digests"], said, fields.list(subject, ["digests"]), "a SHA-256 or better")
}

violations contains evidence.undecided(["content", "status"], evidence.why_unread) if not evidence.read

violations contains v if {
	evidence.read
	not is_array(fields.get(evidence.spec, ["subjects", "listed"], null))
	v := evidence.undecided(["subjects", "listed"], "nothing is known of what it describes")
}

violations contains v if {
	evidence.read
	evidence.number(evidence.spec, ["subjects", "left_out"]) > 0
	v := evidence.undecided(["subjects", "left_out"], "it describes more than could be listed")
}

bound(subject) if {
	count(fields.list(subject, ["images"])) > 0
} else if {
	some digest in fields.list(subject, ["digests"])
	some algorithm in data.parameters["sbom/subject-bound"].algorithms
	startswith(digest, sprintf("%s:", [algorithm]))
} else := false

name(subject) := found if {
	found := fields.text(subject, ["name"])
	found != ""
} else := fields.text(subject, ["id"])
