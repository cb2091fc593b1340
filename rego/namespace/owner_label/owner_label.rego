# METADATA
# scope: package
# title: Namespaces name their owner
# description: |
#   Somebody must answer for what runs in a namespace: findings, costs and incidents are sent to the owner that a label or
#   annotation names. Of a namespace that is used and whose manifest was not read nobody can tell: the pair is undecided.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
# - ref: https://airc.nist.gov/airmf-resources/playbook/govern/
# custom:
#   severity: low
#   match:
#     kinds:
#     - group: ""
#       kinds: [Namespace]
#     derived: true
#   not_applicable: exempt_namespace
#   remediation: Add a label that names the team, see the parameter keys.
#   fix: |
#     metadata:
#       labels:
#         owner: ml-platform
package namespace.owner_label

import data.lib.object as obj

rules := data.parameters["namespace/owner-label"]

default applies := false

applies if {
	obj.name != ""
	not exempt
}

default exempt := false

exempt if obj.name in rules.exempt_namespaces

violations contains violation if {
	applies
	not owned
	violation := {
		"path": ["metadata", "labels", rules.keys[0]],
		"message": sprintf("namespace %s names no owner", [obj.name]),
		"seen": null,
		"expected": sprintf("a label or annotation: %s", [concat(", ", rules.keys)]),
	}
}

default owned := false

owned if {
	some key in rules.keys
	some map in [obj.labels, obj.annotations]
	value := map[key]
	is_string(value)
	trim_space(value) != ""
}
