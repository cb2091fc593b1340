# METADATA
# scope: package
# title: Every pod is selected by a network policy
# description: |
#   A pod that no NetworkPolicy of its namespace selects accepts traffic from everywhere. Labels that the workload's
#   controller adds to its pods are taken into account. Pods on the host network are outside the reach of policies.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/#the-two-sorts-of-pod-isolation
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_pods_on_the_pod_network
#   remediation: Add a NetworkPolicy whose podSelector matches the pod's labels, or one that selects every pod of the namespace.
#   fix: |
#     apiVersion: networking.k8s.io/v1
#     kind: NetworkPolicy
#     metadata:
#       name: vllm
#     spec:
#       podSelector:
#         matchLabels:
#           app: vllm
#       policyTypes: [Ingress]
#   context:
#   - group: networking.k8s.io
#     kinds: [NetworkPolicy]
#     fields: [spec]
package network.pod_selected

import data.lib.network
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(reachable) > 0

# Templates on the pod network. Runtimes without a namespace of their own make pods elsewhere.
reachable := [template |
	some template in workload.whole_templates
	object.get(template.spec, "hostNetwork", false) != true
	not workload.kind_key in {
		"PodTemplate",
		"serving.kserve.io/ClusterServingRuntime",
		"serving.kserve.io/ServingRuntime",
		"argoproj.io/ClusterWorkflowTemplate",
		"trainer.kubeflow.org/ClusterTrainingRuntime",
		"trainer.kubeflow.org/TrainingRuntime",
	}
]

violations contains violation if {
	applies
	some template in reachable
	not selected(network.pod_labels(template))
	violation := {
		"path": network.labels_path(template),
		"message": "no NetworkPolicy of the namespace selects these pods",
		"seen": object.get(template.metadata, "labels", null),
		"expected": "labels that a NetworkPolicy selects",
	}
}

default selected(_) := false

selected(labels) if {
	some policy in network.policies(obj.namespace)
	obj.selects(network.pod_selector(policy), labels)
}
