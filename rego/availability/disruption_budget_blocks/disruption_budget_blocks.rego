# METADATA
# scope: package
# title: A disruption budget lets some pod go
# description: |
#   A budget with maxUnavailable 0 or minAvailable 100% stops every drain: nodes can't be patched until someone
#   deletes pods by hand. A budget that states neither protects and allows nothing that can be relied on. Whole
#   numbers of minAvailable are not compared with replicas here.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# custom:
#   severity: medium
#   match: {kinds: [{group: policy, kinds: [PodDisruptionBudget]}]}
#   not_applicable: always_asked
#   remediation: >-
#     Set maxUnavailable to 1 or more, or minAvailable below 100%.
#   fix: |
#     spec:
#       maxUnavailable: 1
package availability.disruption_budget_blocks

import data.lib.object as obj

default applies := false

applies := true

violations contains v if {
	not obj.absent(most)
	nothing[most]
	v := {
		"path": ["spec", "maxUnavailable"],
		"message": "the budget lets no pod go: maxUnavailable is 0",
		"seen": most,
		"expected": "1 or more",
	}
}

violations contains v if {
	obj.absent(most)
	all_of_them(least)
	v := {
		"path": ["spec", "minAvailable"],
		"message": "the budget lets no pod go: minAvailable is all of them",
		"seen": least,
		"expected": "less than 100%",
	}
}

violations contains v if {
	obj.absent(most)
	obj.absent(least)
	v := {
		"path": ["spec", "maxUnavailable"],
		"message": "the budget states neither maxUnavailable nor minAvailable",
		"seen": null,
		"expected": "maxUnavailable or minAvailable",
	}
}

most := obj.get(input, ["spec", "maxUnavailable"], null)

least := obj.get(input, ["spec", "minAvailable"], null)

nothing := {0, "0", "0%", "00%"}

all_of_them(value) if {
	is_string(value)
	regex.match(`^[0-9]{1,6}%$`, value)
	to_number(trim_suffix(value, "%")) >= 100
}
