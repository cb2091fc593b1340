# METADATA
# scope: package
# title: Every image is pinned by digest
# description: |
#   Only a digest says which bytes run; a tag can be moved in the registry at any time. Signatures, SBOMs and
#   provenance bind to digests. Images of containers and of volumes are judged. A reference that can't be parsed fails
#   as well.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-names
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_image
#   remediation: >-
#     Append the digest to the tag; image update tools keep both current.
#   fix: |
#     containers:
#       - name: server
#         image: registry.example.com/team/server:1.4.2@sha256:<64 hex digits>
package image.digest_pinned

import data.lib.image

default applies := false

applies if count(image.used) > 0

violations contains v if {
	some entry in image.readable
	entry.image.digest == null
	v := image.violation(entry, entry.field, ": image is not pinned by digest", "name:tag@sha256:...")
}

violations contains image.violation_of(entry) if some entry in image.unreadable
