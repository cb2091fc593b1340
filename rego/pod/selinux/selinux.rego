# METADATA
# scope: package
# title: SELinux types, users and roles are not changed
# description: |
#   A custom SELinux type, user or role can take a container out of the confinement of container_t.
#   Pod Security Standards, baseline level, control "SELinux", as enforced by Kubernetes 1.37 (container_engine_t
#   since 1.31).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#assign-selinux-labels-to-a-container
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Remove user and role, and use one of the container types.
#   fix: |
#     securityContext:
#       seLinuxOptions:
#         type: container_t
package pod.selinux

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	options := t.security.seLinuxOptions
	some field in ["type", "user", "role"]
	value := options[field]
	not allowed[field][value]
	v := {
		"path": array.concat(workload.security_path(t, "seLinuxOptions"), [field]),
		"message": sprintf("the pod sets SELinux %s %v", [field, value]),
		"seen": value,
		"expected": expected[field],
	}
}

violations contains v if {
	some c in workload.containers
	options := c.security.seLinuxOptions
	some field in ["type", "user", "role"]
	value := options[field]
	not allowed[field][value]
	v := {
		"path": array.concat(c.path, ["securityContext", "seLinuxOptions", field]),
		"message": sprintf("container %s sets SELinux %s %v", [c.name, field, value]),
		"seen": value,
		"expected": expected[field],
		"container": c.name,
	}
}

allowed := {
	"type": {"", null, "container_t", "container_init_t", "container_kvm_t", "container_engine_t"},
	"user": {"", null},
	"role": {"", null},
}

expected := {
	"type": "container_t, container_init_t, container_kvm_t or container_engine_t",
	"user": null,
	"role": null,
}
