# METADATA
# scope: package
# title: No image is taken by a moving tag
# description: |
#   latest, a missing tag (which means latest) and tags such as main or nightly name whatever was pushed last: two
#   starts of one pod can run different code. So does latest with something before or behind it (latest-cuda). A digest
#   makes the reference immutable, whatever its tag. Images of volumes are judged, too. A reference that can't be parsed
#   fails as well.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-names
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_image
#   remediation: >-
#     Name a release tag, better a digest.
#   fix: |
#     containers:
#       - name: server
#         image: registry.example.com/team/server:1.4.2
package image.mutable_tag

import data.lib.image

default applies := false

applies if count(image.used) > 0

violations contains v if {
	some entry in image.moving
	said := sprintf(" takes its image by the moving tag %s", [entry.image.tag])
	v := image.violation(entry, entry.field, said, "a release tag or a digest")
}

violations contains image.violation_of(entry) if some entry in image.unreadable
