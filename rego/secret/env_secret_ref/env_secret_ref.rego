# METADATA
# scope: package
# title: Secrets are files rather than environment variables
# description: |
#   Environment variables show up in crash dumps, child processes and debug pages; a mounted secret doesn't, and
#   follows rotation. A reference is far better than a literal value, so this only warns.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/secrets-good-practices/
#   - ref: https://kubernetes.io/docs/concepts/configuration/secret/#using-secrets-as-files-from-a-pod
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_container
#   warn_only: true
#   remediation: >-
#     Mount the secret as a volume and read the file.
#   fix: |
#     volumes:
#       - name: token
#         secret:
#           secretName: hub
package secret.env_secret_ref

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some i, item in c.value.env
	reference := item.valueFrom.secretKeyRef
	not workload.empty[reference]
	v := {
		"path": array.concat(c.path, ["env", i, "valueFrom", "secretKeyRef"]),
		"message": sprintf("container %s: variable %v holds a secret", [c.name, object.get(item, "name", i)]),
		"seen": reference,
		"expected": null,
		"container": c.name,
	}
}

violations contains v if {
	some c in workload.containers
	some i, item in c.value.envFrom
	reference := item.secretRef
	not workload.empty[reference]
	v := {
		"path": array.concat(c.path, ["envFrom", i, "secretRef"]),
		"message": sprintf("container %s: variables hold a whole secret", [c.name]),
		"seen": reference,
		"expected": null,
		"container": c.name,
	}
}
