# METADATA
# scope: package
# title: The pod does not share the namespaces of its node
# description: |
#   hostNetwork, hostPID and hostIPC let a container see and disturb the traffic, processes and memory of the node
#   and of other pods.
#   Pod Security Standards, baseline level, control "Host Namespaces", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Remove hostNetwork, hostPID and hostIPC. For fast interconnects use a secondary network or device plugin
#     instead of the host network.
#   fix: |
#     spec:
#       hostNetwork: false
#       hostPID: false
#       hostIPC: false
package pod.host_namespaces

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	some field in ["hostNetwork", "hostPID", "hostIPC"]
	value := t.spec[field]
	not value in workload.off
	v := {
		"path": workload.field_path(t, field),
		"message": sprintf("the pod sets %s", [field]),
		"seen": value,
		"expected": false,
	}
}
