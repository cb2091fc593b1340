# METADATA
# scope: package
# title: The masks over /proc stay
# description: |
#   An unmasked /proc shows kernel settings that a container could read or change. The restricted level allows it in
#   no pod, user namespace or not.
#   Pod Security Standards, restricted level, control "/proc Mount Type", as enforced by Kubernetes 1.37 (part of
#   the restricted level since 1.35).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove procMount.
#   fix: |
#     securityContext:
#       procMount: Default
package pod.proc_mount_restricted

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	value := c.security.procMount
	not allowed[value]
	v := {
		"path": array.concat(c.path, ["securityContext", "procMount"]),
		"message": sprintf("container %s sets procMount %v", [c.name, value]),
		"seen": value,
		"expected": "Default",
		"container": c.name,
	}
}

allowed := {null, "", "Default"}
