# METADATA
# scope: package
# title: No capability beyond the default set is added
# description: |
#   Capabilities such as SYS_ADMIN, NET_ADMIN, SYS_PTRACE or NET_RAW let a container act on the node or on its
#   neighbours.
#   Pod Security Standards, baseline level, control "Capabilities", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#set-capabilities-for-a-container
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove the capability from capabilities.add. Locked memory for RDMA needs a raised limit of the runtime, not
#     IPC_LOCK or SYS_ADMIN, wherever the platform offers it.
#   fix: |
#     securityContext:
#       capabilities:
#         drop: [ALL]
package pod.capabilities_baseline

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some i, capability in workload.items(c.security.capabilities.add)
	not allowed[capability]
	v := {
		"path": array.concat(c.path, ["securityContext", "capabilities", "add", i]),
		"message": sprintf("container %s adds capability %v", [c.name, capability]),
		"seen": capability,
		"expected": null,
		"container": c.name,
	}
}

allowed := {
	"AUDIT_WRITE",
	"CHOWN",
	"DAC_OVERRIDE",
	"FOWNER",
	"FSETID",
	"KILL",
	"MKNOD",
	"NET_BIND_SERVICE",
	"SETFCAP",
	"SETGID",
	"SETPCAP",
	"SETUID",
	"SYS_CHROOT",
}
