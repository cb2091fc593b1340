# METADATA
# scope: package
# title: The masks over /proc stay, except inside a user namespace
# description: |
#   An unmasked /proc shows kernel settings that a container could read or change. Any value is allowed when
#   hostUsers is false.
#   Pod Security Standards, baseline level, control "/proc Mount Type", as enforced by Kubernetes 1.37 (relaxed for
#   user namespaces since 1.35).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/user-namespaces/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove procMount, or set hostUsers to false where nested containers need an unmasked /proc.
#   fix: |
#     securityContext:
#       procMount: Default
package pod.proc_mount

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	value := c.security.procMount
	not allowed[value]
	workload.templates[c.template].user_namespace == false
	v := {
		"path": array.concat(c.path, ["securityContext", "procMount"]),
		"message": sprintf("container %s sets procMount %v", [c.name, value]),
		"seen": value,
		"expected": "Default",
		"container": c.name,
	}
}

allowed := {null, "", "Default"}
