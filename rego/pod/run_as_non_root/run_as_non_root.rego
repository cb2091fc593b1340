# METADATA
# scope: package
# title: Every container must run as non-root
# description: |
#   runAsNonRoot makes the kubelet refuse an image that would run as user 0. The container's own value wins over the
#   pod's; a false at pod level fails even when every container says true. A pod in its own user namespace
#   (hostUsers: false) is not asked.
#   Pod Security Standards, restricted level, control "Running as Non-root", as enforced by Kubernetes 1.37 (relaxed
#   for user namespaces since 1.35).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Set runAsNonRoot: true at pod level, and give images a numeric non-zero USER.
#   fix: |
#     spec:
#       securityContext:
#         runAsNonRoot: true
package pod.run_as_non_root

import data.lib.workload

default applies := false

applies if {
	some c in workload.whole_containers
	not workload.templates[c.template].user_namespace
}

applies if count(violations) > 0

violations contains v if {
	some t in workload.templates
	value := t.security.runAsNonRoot
	value != true
	not workload.empty[value]
	not t.user_namespace
	v := {
		"path": workload.security_path(t, "runAsNonRoot"),
		"message": "the pod allows its containers to run as root",
		"seen": value,
		"expected": true,
	}
}

violations contains v if {
	some c in workload.containers
	not c.security.runAsNonRoot == true
	t := workload.templates[c.template]
	not t.user_namespace
	own := object.get(c.security, "runAsNonRoot", null)
	unless_the_pod_says_it(c, own, t)
	v := {
		"path": array.concat(c.path, ["securityContext", "runAsNonRoot"]),
		"message": sprintf("container %s may run as root", [c.name]),
		"seen": own,
		"expected": true,
		"container": c.name,
	}
}

# Set to something else than true, or set nowhere. A false at pod level is one violation there, not one per container.
unless_the_pod_says_it(_, own, _) if not workload.empty[own]

unless_the_pod_says_it(c, own, t) if {
	workload.empty[own]
	c.partial == false
	workload.empty[object.get(t.security, "runAsNonRoot", null)]
}
