# METADATA
# scope: package
# title: Only safe sysctls are set
# description: |
#   A sysctl outside the safe set can switch off a protection or change every pod of the node.
#   Pod Security Standards, baseline level, control "Sysctls", as enforced by Kubernetes 1.37. The list is a
#   parameter, because it grew with releases.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Remove the sysctl, or set it on the node pool through the node image.
#   fix: |
#     securityContext:
#       sysctls:
#         - name: net.ipv4.tcp_keepalive_time
#           value: "600"
package pod.sysctls

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	some i, item in workload.items(t.security.sysctls)
	is_object(item)
	name := object.get(item, "name", "")
	not name in data.parameters["pod/sysctls"].allowed
	v := {
		"path": array.concat(workload.security_path(t, "sysctls"), [i, "name"]),
		"message": sprintf("the pod sets sysctl %v", [name]),
		"seen": name,
		"expected": null,
	}
}

violations contains v if {
	some t in workload.templates
	some i, item in workload.items(t.security.sysctls)
	not is_object(item)
	v := {
		"path": array.concat(workload.security_path(t, "sysctls"), [i]),
		"message": "the pod sets a sysctl without a name",
		"seen": item,
		"expected": null,
	}
}
