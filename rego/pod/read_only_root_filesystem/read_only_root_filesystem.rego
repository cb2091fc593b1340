# METADATA
# scope: package
# title: Root file systems are read-only
# description: |
#   A process that can write to its root file system can replace programs and keep tools between steps of an attack.
#   Asked of main containers, init containers and sidecars; not of ephemeral ones, which are there to be changed,
#   nor of Windows pods, which can't.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
#   - ref: https://kubernetes.io/docs/concepts/security/linux-kernel-security-constraints/
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Set readOnlyRootFilesystem to true and mount an emptyDir where the program writes (/tmp, caches of compiled
#     kernels).
#   fix: |
#     securityContext:
#       readOnlyRootFilesystem: true
package pod.read_only_root_filesystem

import data.lib.workload

default applies := false

applies if {
	some c in workload.resource_containers
	c.windows == false
}

applies if count(violations) > 0

violations contains v if {
	some c in workload.linux_containers
	not c.security.readOnlyRootFilesystem == true
	c.type != "ephemeral"
	value := object.get(c.security, "readOnlyRootFilesystem", null)
	workload.judged(c, value)
	v := {
		"path": array.concat(c.path, ["securityContext", "readOnlyRootFilesystem"]),
		"message": sprintf("container %s can write to its root file system", [c.name]),
		"seen": value,
		"expected": true,
		"container": c.name,
	}
}
