# METADATA
# scope: package
# title: A network policy restricts what reaches each pod
# description: |
#   A pod that no NetworkPolicy of its namespace selects for incoming traffic accepts it from everywhere; a policy for outgoing
#   traffic alone changes nothing there. Neither does one that lets everybody in, and it undoes the others: policies add up.
#   Labels that the workload's controller adds to its pods are taken into account. Pods on the host network are outside the
#   reach of policies.
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
	not restricted(network.pod_labels(template))
	violation := {
		"path": network.labels_path(template),
		"message": "no NetworkPolicy of the namespace restricts what reaches these pods",
		"seen": object.get(template.metadata, "labels", null),
		"expected": "labels that a NetworkPolicy for incoming traffic selects",
	}
}

default restricted(_) := false

restricted(labels) if {
	some policy in policies
	obj.selects(network.pod_selector(policy), labels)
	network.restricts(policy, "Ingress")
}

policies := network.policies(obj.namespace)

# Policies with a rule that isn't about single ports: only they can let everything in.
suspects := [policy |
	some policy in policies
	some rule in policy.spec.ingress
	not network.single_ports(rule)
]

violations contains violation if {
	applies
	some policy in suspects
	some template in reachable
	obj.selects(network.pod_selector(policy), network.pod_labels(template))
	network.opens_wide(policy, "Ingress")
	violation := {
		"path": network.labels_path(template),
		"message": sprintf("NetworkPolicy %s lets everything reach these pods", [obj.text(policy, ["metadata", "name"])]),
		"seen": object.get(template.metadata, "labels", null),
		"expected": "policies that name peers or ports",
	}
}
