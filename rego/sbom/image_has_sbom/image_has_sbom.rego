# METADATA
# scope: package
# title: Every image that runs has a bill of materials
# description: |
#   What is inside an image can be asked only when somebody wrote it down. The digest of each image must be that of a subject of a bill
#   of materials among the inputs of the same cluster. An image named by tag alone fails even when a document names the same tag,
#   because the tag may mean something else by now; the parameter accepts it. A document that is not valid counts for nothing. Not asked
#   while no bill of materials is among the inputs, unless the parameter requires them. Documents that can't be read leave the pair
#   undecided.
# related_resources:
#   - ref: https://www.cisa.gov/sbom
#   - ref: https://slsa.dev/spec/v1.1/terminology
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: not_configured
#   context:
#     - {group: artifacts.fleetaudit.dev, kinds: [Sbom], fields: [spec.subjects, spec.content, spec.format.status]}
#   remediation: Generate a bill of materials for the image by its digest, and hand it in beside the manifests.
package sbom.image_has_sbom

import data.lib.image
import data.lib.object as fields

default applies := false

applies if {
	asked
	count(image.used) > 0
}

asked if count(documents) > 0

asked if parameters.required == true

parameters := data.parameters["sbom/image-has-sbom"]

documents := fields.everywhere("artifacts.fleetaudit.dev/Sbom")

subjects := [subject |
	some document in documents
	valid(document)
	some subject in fields.list(document, ["spec", "subjects", "listed"])
]

# What no schema can be asked about may well be valid.
valid(document) if fields.text(document, ["spec", "format", "status"]) in {"valid", "unknown"}

# Digests that any document speaks of. Where no valid one does, that is worth another sentence.
spoken_of := {digest |
	some document in documents
	some subject in fields.list(document, ["spec", "subjects", "listed"])
	some digest in fields.list(subject, ["images"])
}

digests := {digest |
	some subject in subjects
	some digest in fields.list(subject, ["images"])
}

# Names with a tag, in the one spelling that references are compared in.
named := {spelt(parsed) |
	some subject in subjects
	some reference in fields.list(subject, ["references"])
	parsed := image.parse(reference)
	parsed.valid
}

violations contains v if {
	asked
	some entry in image.readable
	not covered(entry.image)
	not may_be_covered(entry.image)
	v := image.violation(entry, entry.field, said(entry.image), "an image whose digest a bill of materials describes")
}

violations contains v if {
	asked
	some entry in image.readable
	not covered(entry.image)
	may_be_covered(entry.image)
	v := object.union(image.violation(entry, entry.field, ": a bill of materials can't be read", null), {"undecided": true})
}

violations contains image.violation_of(entry) if {
	asked
	some entry in image.unreadable
}

# A document that can't be read may describe it, unless nothing that a document says would be enough.
may_be_covered(reference) if {
	some document in documents
	not is_array(fields.get(document, ["spec", "subjects", "listed"], null))
	bindable(reference)
} else := false

bindable(reference) if reference.digest != null

bindable(_) if parameters.accept_tag == true

covered(reference) if {
	reference.digest in digests
} else if {
	parameters.accept_tag == true
	reference.digest == null
	spelt(reference) in named
} else := false

said(reference) := ": the bill of materials that describes this digest is not a valid document" if {
	reference.digest in spoken_of
} else := ": no bill of materials describes this digest" if {
	reference.digest != null
} else := ": named by tag, and a bill of materials can only be bound to a digest" if {
	spelt(reference) in named
} else := ": no bill of materials describes this image"

spelt(reference) := sprintf("%s/%s:%v", [reference.registry, reference.repository, reference.tag])
