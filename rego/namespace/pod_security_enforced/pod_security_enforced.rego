# METADATA
# scope: package
# title: Namespaces enforce a Pod Security Standard
# description: |
#   The label pod-security.kubernetes.io/enforce makes the API server refuse pods that break the standard it names. Without it,
#   or with the level privileged, anything that may create a pod in the namespace can take over its node. The labels warn and
#   audit refuse nothing. Of a namespace that is used and whose manifest was not read nobody can tell: the pair is undecided.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/pod-security-admission/
# - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: ""
#       kinds: [Namespace]
#     derived: true
#   not_applicable: exempt_namespace
#   remediation: Set the label to baseline, or to restricted where the workloads allow it.
#   fix: |
#     metadata:
#       labels:
#         pod-security.kubernetes.io/enforce: baseline
package namespace.pod_security_enforced

import data.lib.object as obj

label := "pod-security.kubernetes.io/enforce"

default applies := false

applies if {
	obj.name != ""
	not exempt
}

default exempt := false

exempt if obj.name in data.parameters["namespace/pod-security-enforced"].exempt_namespaces

violations contains violation if {
	applies
	level := object.get(obj.labels, label, null)
	not enough(level)
	violation := {
		"path": ["metadata", "labels", label],
		"message": message(level),
		"seen": level,
		"expected": concat(" or ", data.parameters["namespace/pod-security-enforced"].levels),
	}
}

default enough(_) := false

enough(level) if level in data.parameters["namespace/pod-security-enforced"].levels

message(level) := "no Pod Security Standard is enforced" if level == null

message(level) := sprintf("the enforced level %v is not enough", [level]) if level != null
