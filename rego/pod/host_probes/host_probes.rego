# METADATA
# scope: package
# title: No probe or lifecycle hook names a host
# description: |
#   A host in a probe or hook makes the kubelet call an address of the pod author's choice from the node network,
#   behind network policies.
#   Pod Security Standards, baseline level, control "Host Probes / Lifecycle Hooks", as enforced by Kubernetes 1.37
#   (part of the baseline since 1.34).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Remove host from the handler: the kubelet then calls the pod itself. A host name for virtual hosting belongs
#     in httpHeaders.
#   fix: |
#     livenessProbe:
#       httpGet:
#         path: /health
#         port: 8000
package pod.host_probes

import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some probe in ["livenessProbe", "readinessProbe", "startupProbe"]
	some action in actions
	host := c.value[probe][action].host
	not unset[host]
	v := violation(c, [probe, action, "host"], host)
}

violations contains v if {
	some c in workload.containers
	some hook in ["postStart", "preStop"]
	some action in actions
	host := c.value.lifecycle[hook][action].host
	not unset[host]
	v := violation(c, ["lifecycle", hook, action, "host"], host)
}

violation(c, path, host) := {
	"path": array.concat(c.path, path),
	"message": sprintf("container %s: %s names a host", [c.name, path[count(path) - 3]]),
	"seen": host,
	"expected": null,
	"container": c.name,
}

actions := ["httpGet", "tcpSocket"]

unset := {null, ""}
