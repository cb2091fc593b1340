# METADATA
# scope: package
# title: A serving workload has at least two replicas
# description: |
#   One replica means an outage at each node drain, each crash and most rollouts. Counts the lower bound of an
#   autoscaler when one targets the workload, else spec.replicas (1 when missing, as on the server). A workload
#   scaled to zero is not asked.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
# custom:
#   severity: medium
#   match: {kinds: [{group: apps, kinds: [Deployment, StatefulSet]}, {group: argoproj.io, kinds: [Rollout]}]}
#   not_applicable: scaled_to_zero
#   context:
#     - {group: autoscaling, kinds: [HorizontalPodAutoscaler], fields: [spec.scaleTargetRef, spec.minReplicas]}
#     - {group: keda.sh, kinds: [ScaledObject], fields: [spec.scaleTargetRef, spec.minReplicaCount]}
#   remediation: >-
#     Set replicas, or the minimum of the autoscaler, to two or more (parameter).
#   fix: |
#     spec:
#       replicas: 2
package availability.replicas

import data.lib.scaling

default applies := false

applies if scaling.minimum != 0

violations contains v if {
	scaling.minimum < data.parameters["availability/replicas"].min_replicas
	v := {
		"path": scaling.path,
		"message": sprintf("the workload may run on %v replica(s)", [scaling.minimum]),
		"seen": scaling.minimum,
		"expected": data.parameters["availability/replicas"].min_replicas,
	}
}
