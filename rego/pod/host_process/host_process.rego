# METADATA
# scope: package
# title: No Windows container runs as a HostProcess container
# description: |
#   A HostProcess container runs on the Windows node itself, with access to everything on it. Looks at the pod and
#   at containers of every type.
#   Pod Security Standards, baseline level, control "HostProcess", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/
# custom:
#   severity: critical
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Remove windowsOptions.hostProcess, or set it to false. Run node management as a service of the node image
#     instead.
#   fix: |
#     securityContext:
#       windowsOptions:
#         hostProcess: false
package pod.host_process

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	value := t.security.windowsOptions.hostProcess
	not value in workload.off
	v := {
		"path": array.concat(workload.security_path(t, "windowsOptions"), ["hostProcess"]),
		"message": "the pod runs its containers as HostProcess containers",
		"seen": value,
		"expected": false,
	}
}

violations contains v if {
	some c in workload.containers
	value := c.security.windowsOptions.hostProcess
	not value in workload.off
	v := {
		"path": array.concat(c.path, ["securityContext", "windowsOptions", "hostProcess"]),
		"message": sprintf("container %s is a HostProcess container", [c.name]),
		"seen": value,
		"expected": false,
		"container": c.name,
	}
}
