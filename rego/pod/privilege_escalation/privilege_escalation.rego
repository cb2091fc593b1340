# METADATA
# scope: package
# title: No container may gain privileges
# description: |
#   Unless allowPrivilegeEscalation is false, a set-user-ID program inside the image can make a process root. Asked
#   of containers of every type, not of Windows pods.
#   Pod Security Standards, restricted level, control "Privilege Escalation", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Set allowPrivilegeEscalation to false in the securityContext of each container; the pod level has no such
#     field.
#   fix: |
#     securityContext:
#       allowPrivilegeEscalation: false
package pod.privilege_escalation

import data.lib.workload

default applies := false

applies if workload.has_linux_container

applies if count(violations) > 0

violations contains v if {
	some c in workload.linux_containers
	not c.security.allowPrivilegeEscalation == false
	value := object.get(c.security, "allowPrivilegeEscalation", null)
	workload.judged(c, value)
	v := {
		"path": array.concat(c.path, ["securityContext", "allowPrivilegeEscalation"]),
		"message": sprintf("container %s may gain privileges", [c.name]),
		"seen": value,
		"expected": false,
		"container": c.name,
	}
}
