# METADATA
# scope: package
# title: Every image reference can be parsed
# description: |
#   A reference that is missing, malformed or still a template can't be pinned, matched with a registry or bound to
#   a signature and an SBOM. Parsed by the grammar of the container reference library that Kubernetes uses, for
#   containers and for volumes that an image fills. The other image rules fail on such a reference too: what can't be read is never taken as pinned or allowed.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-names
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_image
#   remediation: >-
#     Write a complete reference. Render charts and templates before they are audited.
#   fix: |
#     containers:
#       - name: server
#         image: registry.example.com/team/server:1.4.2
package image.valid_reference

import data.lib.image

default applies := false

applies if count(image.used) > 0

violations contains v if {
	some entry in image.unreadable
	said := sprintf(": image reference: %s", [entry.image.reason])
	v := image.violation(entry, entry.field, said, "registry/repository:tag or @digest")
}
