# METADATA
# scope: package
# title: No container asks for user 0
# description: |
#   runAsUser: 0 runs the container as root whatever its image says. A pod in its own user namespace (hostUsers:
#   false) may.
#   Pod Security Standards, restricted level, control "Running as Non-root user", as enforced by Kubernetes 1.37
#   (relaxed for user namespaces since 1.35).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Set runAsUser to a number above 0, or remove it and let the image decide.
#   fix: |
#     securityContext:
#       runAsUser: 1000
package pod.run_as_user_nonzero

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	value := t.security.runAsUser
	root[value]
	t.user_namespace == false
	v := {
		"path": workload.security_path(t, "runAsUser"),
		"message": "the pod runs its containers as user 0",
		"seen": value,
		"expected": "a number above 0",
	}
}

violations contains v if {
	some c in workload.containers
	value := c.security.runAsUser
	root[value]
	workload.templates[c.template].user_namespace == false
	v := {
		"path": array.concat(c.path, ["securityContext", "runAsUser"]),
		"message": sprintf("container %s runs as user 0", [c.name]),
		"seen": value,
		"expected": "a number above 0",
		"container": c.name,
	}
}

root := {0, "0"}
