# METADATA
# scope: package
# title: No environment variable holds a literal secret
# description: |
#   A value written into a manifest is readable for everyone who may read the object, its repository or its history.
#   The reader replaced the value by a marker because its name, its form or its randomness says secret; the finding
#   says where it is, never what it is.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/secret/
#   - ref: https://kubernetes.io/docs/concepts/security/secrets-good-practices/
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Move the value into a Secret (or an external secret store), refer to it, and rotate it: it has been seen.
#   fix: |
#     env:
#       - name: HUB_TOKEN
#         valueFrom:
#           secretKeyRef: {name: hub, key: token}
package secret.literal_in_env

import data.lib.redaction
import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some i, item in c.value.env
	is_string(item.value)
	contains(item.value, redaction.marker)
	v := {
		"path": array.concat(c.path, ["env", i, "value"]),
		"message": sprintf("container %s: variable %v holds a literal secret (%s)", [c.name, object.get(item, "name", i), redaction.reason(item.value)]),
		"seen": redaction.only(item.value),
		"expected": "valueFrom.secretKeyRef",
		"container": c.name,
	}
}
