# METADATA
# scope: package
# title: Seccomp is not switched off
# description: |
#   Unconfined lifts the filter on system calls that runtimes give by default. A profile that is named must be the
#   runtime's or a local one. Looks at the fields of pod and containers, and at the older annotations, which clusters
#   before Kubernetes 1.27 follow.
#   Pod Security Standards, baseline level, control "Seccomp", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tutorials/security/seccomp/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Use RuntimeDefault or Localhost, or remove the profile.
#   fix: |
#     securityContext:
#       seccompProfile:
#         type: RuntimeDefault
package pod.seccomp_baseline

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
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
	some c in workload.containers
	profile := c.security.seccompProfile
	value := workload.profile_type(profile)
	not allowed[value]
	v := {
		"path": array.concat(c.path, ["securityContext", "seccompProfile", "type"]),
		"message": sprintf("container %s sets seccomp profile %q", [c.name, value]),
		"seen": value,
		"expected": "RuntimeDefault or Localhost",
		"container": c.name,
	}
}

violations contains v if {
	some t in workload.templates
	some key, value in t.metadata.annotations
	contains(key, "seccomp.security.alpha.kubernetes.io/")
	not annotation_allowed(value)
	v := {
		"path": workload.annotation_path(t, key),
		"message": sprintf("an annotation sets seccomp profile %q", [value]),
		"seen": value,
		"expected": "runtime/default or localhost/*",
	}
}

allowed := {"RuntimeDefault", "Localhost"}

annotation_allowed(value) if value in {null, "", "runtime/default", "docker/default"}

annotation_allowed(value) if {
	is_string(value)
	startswith(value, "localhost/")
}
