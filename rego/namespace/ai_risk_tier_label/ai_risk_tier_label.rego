# METADATA
# scope: package
# title: Namespaces state the risk tier of their AI systems
# description: |
#   How much risk work a system needs depends on its tier. A label on the namespace makes the tier known to policies and to
#   reports, and its value must be one of the tiers that the organisation uses. Of a namespace that is used and whose manifest was
#   not read nobody can tell: the pair is undecided.
# related_resources:
# - ref: https://airc.nist.gov/airmf-resources/playbook/govern/
# - ref: https://artificialintelligenceact.eu/high-level-summary/
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: ""
#       kinds: [Namespace]
#     derived: true
#   not_applicable: exempt_namespace
#   remediation: Decide the tier with the owner of the system and add the label; namespaces without AI systems say so with the tier none.
#   fix: |
#     metadata:
#       labels:
#         ai-risk-tier: limited
package namespace.ai_risk_tier_label

import data.lib.object as obj

rules := data.parameters["namespace/ai-risk-tier-label"]

default applies := false

applies if {
	obj.name != ""
	not exempt
}

default exempt := false

exempt if obj.name in rules.exempt_namespaces

stated := [{"key": key, "value": value} |
	some key in rules.keys
	value := object.get(obj.labels, key, null)
	not obj.absent(value)
]

violations contains violation if {
	applies
	count(stated) == 0
	violation := {
		"path": ["metadata", "labels", rules.keys[0]],
		"message": sprintf("namespace %s states no risk tier", [obj.name]),
		"seen": null,
		"expected": concat(", ", rules.tiers),
	}
}

violations contains violation if {
	applies
	some label in stated
	not label.value in rules.tiers
	violation := {
		"path": ["metadata", "labels", label.key],
		"message": sprintf("%v is no risk tier", [label.value]),
		"seen": label.value,
		"expected": concat(", ", rules.tiers),
	}
}
