# METADATA
# scope: package
# title: Images come from allowed registries
# description: |
#   Asked only when the parameter lists registries. An entry is a registry, or a registry with the beginning of a
#   path (ghcr.io/team); *.example.com stands for every name below example.com. A missing registry means docker.io.
#   Images of containers and of volumes are judged. A reference that can't be parsed fails as well.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/
#   - ref: https://kubernetes.io/docs/concepts/security/security-checklist/
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: not_configured
#   remediation: >-
#     Mirror the image into an allowed registry and name it there, or add the registry to the parameter.
#   fix: |
#     containers:
#       - name: server
#         image: registry.example.com/team/server:1.4.2
package image.registry_allowed

import data.lib.image

default applies := false

applies if {
	count(registries) > 0
	count(image.used) > 0
}

violations contains v if {
	count(registries) > 0
	some entry in image.readable
	not allowed(entry.image)
	said := sprintf(": image comes from %s, which is not an allowed registry", [entry.image.registry])
	v := image.violation(entry, entry.field, said, concat(", ", registries))
}

violations contains image.violation_of(entry) if some entry in image.unreadable

registries := data.parameters["image/registry-allowed"].registries

allowed(reference) if {
	reference.registry in registries
} else if {
	full := concat("/", [reference.registry, reference.repository])
	some entry in registries
	contains(entry, "/")
	startswith(concat("", [full, "/"]), concat("", [trim_suffix(entry, "/"), "/"]))
} else if {
	some entry in registries
	startswith(entry, "*.")
	endswith(reference.registry, substring(entry, 1, -1))
} else := false
