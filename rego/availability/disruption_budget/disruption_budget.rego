# METADATA
# scope: package
# title: Replicated workloads have a disruption budget
# description: |
#   Without a PodDisruptionBudget a node upgrade may evict every replica at once. Asked of workloads with at least
#   two replicas, counting the lower bound of an autoscaler; the budget must be in the same namespace, its selector
#   must choose the labels of the pod template, and it must keep at least one replica. One that allows all of them to
#   go, or states nothing, protects nothing.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/configure-pdb/
# custom:
#   severity: medium
#   match: {kinds: [{group: apps, kinds: [Deployment, StatefulSet]}, {group: argoproj.io, kinds: [Rollout]}]}
#   not_applicable: fewer_than_two_replicas
#   context:
#     - {group: autoscaling, kinds: [HorizontalPodAutoscaler], fields: [spec.scaleTargetRef, spec.minReplicas]}
#     - {group: keda.sh, kinds: [ScaledObject], fields: [spec.scaleTargetRef, spec.minReplicaCount]}
#     - {group: policy, kinds: [PodDisruptionBudget], fields: [spec.selector, spec.minAvailable, spec.maxUnavailable]}
#   remediation: >-
#     Create a PodDisruptionBudget with maxUnavailable for the workload's labels.
#   fix: |
#     apiVersion: policy/v1
#     kind: PodDisruptionBudget
#     metadata: {name: model-server, namespace: team-a}
#     spec:
#       maxUnavailable: 1
#       selector: {matchLabels: {app: model-server}}
package availability.disruption_budget

import data.lib.object as obj
import data.lib.scaling

default applies := false

applies if {
	scaling.minimum >= 2
	is_object(input.spec.template)
}

violations contains v if {
	applies
	not protected
	v := {
		"path": ["spec", "template", "metadata", "labels"],
		"message": "no disruption budget chooses the pods of this workload",
		"seen": labels,
		"expected": "a PodDisruptionBudget whose selector chooses these labels",
	}
}

protected if {
	some ns in obj.namespaces
	some budget in data.inventory["policy/PodDisruptionBudget"][ns]
	obj.selects(obj.get(budget, ["spec", "selector"], null), labels)
	keeps(obj.get(budget, ["spec", "maxUnavailable"], null), obj.get(budget, ["spec", "minAvailable"], null))
}

# At least one replica stays: of percentages the server rounds up what may go and what must stay.
keeps(most, _) if {
	is_number(most)
	most < scaling.minimum
}

keeps(most, _) if {
	is_string(most)
	regex.match(`^[0-9]{1,6}%$`, most)
	ceil((to_number(trim_suffix(most, "%")) * scaling.minimum) / 100) < scaling.minimum
}

keeps(null, least) if {
	is_number(least)
	least > 0
}

keeps(null, least) if {
	is_string(least)
	regex.match(`^0*[1-9][0-9]{0,5}%$`, least)
}

labels := obj.mapping(input, ["spec", "template", "metadata", "labels"])
