# METADATA
# scope: package
# title: AppArmor is not switched off
# description: |
#   An AppArmor profile other than the runtime's or a local one lifts the confinement that supported nodes give by
#   default. Looks at the fields of pod and containers and at the older annotations.
#   Pod Security Standards, baseline level, control "AppArmor", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/tutorials/security/apparmor/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Remove the profile, or use RuntimeDefault or Localhost.
#   fix: |
#     securityContext:
#       appArmorProfile:
#         type: RuntimeDefault
package pod.apparmor

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some t in workload.templates
	profile := t.security.appArmorProfile
	value := workload.profile_type(profile)
	not allowed[value]
	v := {
		"path": array.concat(workload.security_path(t, "appArmorProfile"), ["type"]),
		"message": sprintf("the pod sets AppArmor profile %q", [value]),
		"seen": value,
		"expected": "RuntimeDefault or Localhost",
	}
}

violations contains v if {
	some c in workload.containers
	profile := c.security.appArmorProfile
	value := workload.profile_type(profile)
	not allowed[value]
	v := {
		"path": array.concat(c.path, ["securityContext", "appArmorProfile", "type"]),
		"message": sprintf("container %s sets AppArmor profile %q", [c.name, value]),
		"seen": value,
		"expected": "RuntimeDefault or Localhost",
		"container": c.name,
	}
}

violations contains v if {
	some t in workload.templates
	some key, value in t.metadata.annotations
	startswith(key, prefix)
	not annotation_allowed(value)
	v := {
		"path": workload.annotation_path(t, key),
		"message": sprintf("an annotation sets AppArmor profile %q", [value]),
		"seen": value,
		"expected": "runtime/default or localhost/*",
		"container": substring(key, count(prefix), -1),
	}
}

allowed := {"RuntimeDefault", "Localhost"}

prefix := "container.apparmor.security.beta.kubernetes.io/"

annotation_allowed(null)

annotation_allowed("")

annotation_allowed("runtime/default")

annotation_allowed(value) if {
	is_string(value)
	startswith(value, "localhost/")
}
