# METADATA
# scope: package
# title: No container takes a port of its node
# description: |
#   A host port bypasses services and network policies and ties the pod to one node. In a pod on the host network the
#   server takes every container port for a host port.
#   Pod Security Standards, baseline level, control "Host Ports", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/concepts/services-networking/service/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove hostPort, and hostNetwork with it, and reach the pod through a Service.
#   fix: |
#     ports:
#       - containerPort: 8000
package pod.host_ports

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some i, port in c.value.ports
	number := port.hostPort
	not unset[number]
	v := {
		"path": array.concat(c.path, ["ports", i, "hostPort"]),
		"message": sprintf("container %s takes port %v of the node", [c.name, number]),
		"seen": number,
		"expected": null,
		"container": c.name,
	}
}

# On the host network a container port without a host port is one. Ephemeral containers have none.
violations contains v if {
	some index, t in workload.templates
	not object.get(t.spec, "hostNetwork", false) in workload.off
	some c in workload.containers
	c.template == index
	some i, port in c.value.ports
	unset[object.get(port, "hostPort", null)]
	number := port.containerPort
	not unset[number]
	v := {
		"path": array.concat(c.path, ["ports", i, "containerPort"]),
		"message": sprintf("container %s takes port %v of the node, because the pod is on the host network", [c.name, number]),
		"seen": number,
		"expected": null,
		"container": c.name,
	}
}

unset := {0, null, ""}
