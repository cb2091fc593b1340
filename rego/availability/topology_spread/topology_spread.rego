# METADATA
# scope: package
# title: Replicas are spread over nodes or zones
# description: |
#   Replicas on one node fail together. Asked of workloads with at least two replicas, counting the lower bound of
#   an autoscaler: topology spread constraints or pod anti-affinity must be stated.
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

spread if some _ in input.spec.template.spec.topologySpreadConstraints

spread if {
	some strength in ["requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"]
	some _ in input.spec.template.spec.affinity.podAntiAffinity[strength]
}
