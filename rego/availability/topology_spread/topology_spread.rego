# METADATA
# scope: package
# title: Replicas are spread over nodes or zones
# description: |
#   Replicas on one node fail together. Asked of workloads with at least two replicas, counting the lower bound of
#   an autoscaler: topology spread constraints or pod anti-affinity must be stated, over a key that tells nodes apart
#   and for the pods of the workload itself. One without a label selector spreads nothing.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# custom:
#   severity: low
#   match: {kinds: [{group: apps, kinds: [Deployment, StatefulSet]}, {group: argoproj.io, kinds: [Rollout]}]}
#   not_applicable: fewer_than_two_replicas
#   context:
#     - {group: autoscaling, kinds: [HorizontalPodAutoscaler], fields: [spec.scaleTargetRef, spec.minReplicas]}
#     - {group: keda.sh, kinds: [ScaledObject], fields: [spec.scaleTargetRef, spec.minReplicaCount]}
#   remediation: >-
#     Add a topologySpreadConstraint over kubernetes.io/hostname or topology.kubernetes.io/zone.
#   fix: |
#     topologySpreadConstraints:
#       - maxSkew: 1
#         topologyKey: topology.kubernetes.io/zone
#         whenUnsatisfiable: ScheduleAnyway
#         labelSelector: {matchLabels: {app: model-server}}
package availability.topology_spread

import data.lib.object as obj
import data.lib.scaling

default applies := false

applies if {
	scaling.minimum >= 2
	is_object(input.spec.template)
}

violations contains v if {
	applies
	not spread
	v := {
		"path": ["spec", "template", "spec", "topologySpreadConstraints"],
		"message": "nothing spreads the replicas over nodes or zones",
		"seen": null,
		"expected": "topologySpreadConstraints or podAntiAffinity",
	}
}

spread if {
	some constraint in obj.list(input.spec.template, ["spec", "topologySpreadConstraints"])
	spreads(constraint)
}

spread if {
	some term in obj.list(input.spec.template, ["spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"])
	spreads(term)
}

spread if {
	some term in obj.list(input.spec.template, ["spec", "affinity", "podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution"])
	spreads(obj.mapping(term, ["podAffinityTerm"]))
}

# Keys that are the same on most nodes tell none apart.
spreads(term) if {
	not obj.text(term, ["topologyKey"]) in {"", "kubernetes.io/os", "kubernetes.io/arch"}
	obj.selects(obj.get(term, ["labelSelector"], null), labels)
}

labels := obj.mapping(input, ["spec", "template", "metadata", "labels"])
