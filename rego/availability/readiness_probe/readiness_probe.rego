# METADATA
# scope: package
# title: Serving containers have a readiness probe
# description: |
#   Without one, traffic is sent to a server that is still loading weights or has run out of memory, and a rollout
#   goes on while every new pod is broken. Asked of main containers and sidecars of pods that serve until they are
#   stopped; never of init or ephemeral containers, nor of jobs, nor of Ray groups, where the operator adds probes
#   by itself. A handler without a port, and a command that can't fail (true, exit 0), ask nothing.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_serving_container
#   remediation: >-
#     Add a readinessProbe that succeeds once the model answers.
#   fix: |
#     readinessProbe:
#       httpGet: {path: /ready, port: 8000}
#       periodSeconds: 5
package availability.readiness_probe

import data.lib.workload

default applies := false

applies if count(workload.serving_containers) > 0

violations contains v if {
	some c in workload.serving_containers
	not workload.probes(object.get(c.value, "readinessProbe", null))
	v := {
		"path": array.concat(c.path, ["readinessProbe"]),
		"message": sprintf("container %s has no readiness probe", [c.name]),
		"seen": object.get(c.value, "readinessProbe", null),
		"expected": "httpGet, tcpSocket, grpc or exec",
		"container": c.name,
	}
}
