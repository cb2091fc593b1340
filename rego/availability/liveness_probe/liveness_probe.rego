# METADATA
# scope: package
# title: Serving containers have a liveness probe
# description: |
#   A model server that hangs (a stuck GPU, a deadlocked worker) keeps its pod and its devices until someone
#   notices, unless the kubelet asks it. Asked of main containers and sidecars of pods that serve until they are
#   stopped; never of init or ephemeral containers, nor of jobs, nor of Ray groups, where the operator adds probes
#   by itself. A handler without a port, and a command that can't fail (true, exit 0), ask nothing.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_serving_container
#   remediation: >-
#     Add a livenessProbe that is cheap, and a startupProbe that covers the time to load the weights.
#   fix: |
#     livenessProbe:
#       httpGet: {path: /health, port: 8000}
#       periodSeconds: 10
#       failureThreshold: 6
package availability.liveness_probe

import data.lib.workload

default applies := false

applies if count(workload.serving_containers) > 0

violations contains v if {
	some c in workload.serving_containers
	not workload.probes(object.get(c.value, "livenessProbe", null))
	v := {
		"path": array.concat(c.path, ["livenessProbe"]),
		"message": sprintf("container %s has no liveness probe", [c.name]),
		"seen": object.get(c.value, "livenessProbe", null),
		"expected": "httpGet, tcpSocket, grpc or exec",
		"container": c.name,
	}
}
