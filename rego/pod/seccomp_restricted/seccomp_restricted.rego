# METADATA
# scope: package
# title: Every container has a seccomp profile
# description: |
#   The filter on system calls must be stated, at pod level or for each container, as RuntimeDefault or Localhost.
#   Asked of containers of every type, not of Windows pods.
#   Pod Security Standards, restricted level, control "Seccomp", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/tutorials/security/seccomp/
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Set seccompProfile.type to RuntimeDefault at pod level.
#   fix: |
#     spec:
#       securityContext:
#         seccompProfile:
#           type: RuntimeDefault
package pod.seccomp_restricted

import data.lib.workload

default applies := false

applies if workload.has_linux_container

applies if count(violations) > 0

violations contains v if {
	some t in workload.templates
	t.windows == false
	profile := t.security.seccompProfile
	value := workload.profile_type(profile)
	not allowed[value]
	v := {
		"path": array.concat(workload.security_path(t, "seccompProfile"), ["type"]),
		"message": sprintf("the pod sets seccomp profile %q", [value]),
		"seen": value,
		"expected": "RuntimeDefault or Localhost",
	}
}

violations contains v if {
	some c in workload.linux_containers
	value := own_type(c, object.get(c.security, "seccompProfile", null))
	not allowed[value]
	v := {
		"path": array.concat(c.path, ["securityContext", "seccompProfile", "type"]),
		"message": message(c, value),
		"seen": value,
		"expected": "RuntimeDefault or Localhost",
		"container": c.name,
	}
}

# Undefined when the pod's profile stands for the container, or when that can't be told of a partial container.
own_type(_, own) := workload.profile_type(own) if own != null

own_type(c, null) := null if {
	c.partial == false
	object.get(workload.templates[c.template].security, "seccompProfile", null) == null
}

message(c, null) := sprintf("container %s has no seccomp profile", [c.name])

message(c, value) := sprintf("container %s sets seccomp profile %q", [c.name, value]) if value != null

allowed := {"RuntimeDefault", "Localhost"}
