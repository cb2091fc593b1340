# METADATA
# scope: package
# title: An image that can change is pulled each time
# description: |
#   With a moving tag and IfNotPresent, nodes run whatever they happened to fetch first; with Never, a node runs an
#   image that the registry no longer vouches for. A missing policy means Always for latest and IfNotPresent
#   otherwise, as on the server. Which tags move is the parameter of image/mutable-tag. Images of volumes are judged,
#   too. A reference that can't be parsed fails as well.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_image
#   remediation: >-
#     Pin the image by digest, or set imagePullPolicy to Always.
#   fix: |
#     containers:
#       - name: server
#         image: registry.example.com/team/server:main
#         imagePullPolicy: Always
package image.pull_policy

import data.lib.image

default applies := false

applies if count(image.used) > 0

violations contains v if {
	some entry in image.moving
	policy := policy_of(entry, entry.image.tag)
	policy != "Always"
	v := violation(entry, policy)
}

violations contains v if {
	some entry in image.readable
	policy := object.get(entry.value, entry.policy, null)
	not policy in {"Always", "IfNotPresent", null, "", [], {}}
	v := violation(entry, policy)
}

violations contains image.violation_of(entry) if some entry in image.unreadable

# What the server takes when none is stated.
policy_of(entry, tag) := stated if {
	stated := object.get(entry.value, entry.policy, null)
	not stated in {null, "", [], {}}
} else := "Always" if {
	tag == "latest"
} else := "IfNotPresent"

violation(entry, policy) := image.violation(entry, entry.policy, said, "Always") if {
	said := sprintf(": pull policy %v for image tag %v", [policy, entry.image.tag])
}
