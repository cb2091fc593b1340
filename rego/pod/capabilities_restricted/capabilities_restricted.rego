# METADATA
# scope: package
# title: Every container drops all capabilities
# description: |
#   A container must drop ALL and may add only NET_BIND_SERVICE. Asked of containers of every type, not of Windows
#   pods.
#   Pod Security Standards, restricted level, control "Capabilities", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#set-capabilities-for-a-container
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Drop ALL, and add nothing but NET_BIND_SERVICE.
#   fix: |
#     securityContext:
#       capabilities:
#         drop: [ALL]
package pod.capabilities_restricted

import data.lib.workload

default applies := false

applies if workload.has_linux_container

applies if count(violations) > 0

violations contains v if {
	some c in workload.linux_containers
	not drops_all(c)
	dropped := object.get(c.security, ["capabilities", "drop"], null)
	workload.judged(c, dropped)
	v := {
		"path": array.concat(c.path, ["securityContext", "capabilities", "drop"]),
		"message": sprintf("container %s keeps capabilities", [c.name]),
		"seen": dropped,
		"expected": ["ALL"],
		"container": c.name,
	}
}

violations contains v if {
	some c in workload.linux_containers
	some i, capability in workload.items(c.security.capabilities.add)
	capability != "NET_BIND_SERVICE"
	v := {
		"path": array.concat(c.path, ["securityContext", "capabilities", "add", i]),
		"message": sprintf("container %s adds capability %v", [c.name, capability]),
		"seen": capability,
		"expected": null,
		"container": c.name,
	}
}

drops_all(c) if "ALL" in c.security.capabilities.drop
