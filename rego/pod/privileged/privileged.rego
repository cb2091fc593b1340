# METADATA
# scope: package
# title: No container is privileged
# description: |
#   A privileged container has every capability, all devices and no confinement: it is root on the node. Looks at
#   containers of every type, sidecars and ephemeral ones included.
#   Pod Security Standards, baseline level, control "Privileged Containers", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   severity: critical
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove securityContext.privileged. Give the container the one capability or device that it needs; GPUs need a
#     device plugin, not privilege.
#   fix: |
#     securityContext:
#       privileged: false
package pod.privileged

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	value := c.security.privileged
	not value in workload.off
	v := {
		"path": array.concat(c.path, ["securityContext", "privileged"]),
		"message": sprintf("container %s is privileged", [c.name]),
		"seen": value,
		"expected": false,
		"container": c.name,
	}
}
