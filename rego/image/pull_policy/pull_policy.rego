# METADATA
# scope: package
# title: An image that can change is pulled each time
# description: |
#   With a moving tag and IfNotPresent, nodes run whatever they happened to fetch first; with Never, a node runs an
#   image that the registry no longer vouches for. A missing policy means Always for latest and IfNotPresent
#   otherwise, as on the server. Which tags move is the parameter of image/mutable-tag. A reference that can't be
#   parsed fails as well.
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
	some entry in image.used
	entry.image.valid
	c := entry.container
	policy := effective(object.get(c.value, "imagePullPolicy", null), entry.image)
	not fine(policy, entry.image)
	v := {
		"path": array.concat(c.path, ["imagePullPolicy"]),
		"message": sprintf("container %s: pull policy %v for image tag %v", [c.name, policy, entry.image.tag]),
		"seen": object.get(c.value, "imagePullPolicy", null),
		"expected": "Always",
		"container": c.name,
	}
}

violations contains v if {
	some entry in image.used
	entry.image.valid == false
	v := image.unreadable(entry.container)
}

fine("Always", _)

fine("IfNotPresent", reference) if reference.digest != null

fine("IfNotPresent", reference) if not reference.tag in data.parameters["image/mutable-tag"].mutable_tags

effective(stated, _) := stated if not empty[stated]

effective(stated, reference) := "Always" if {
	empty[stated]
	reference.tag == "latest"
	reference.digest == null
}

effective(stated, reference) := "IfNotPresent" if {
	empty[stated]
	not latest(reference)
}

latest(reference) if {
	reference.tag == "latest"
	reference.digest == null
}

empty := {null, "", [], {}}
