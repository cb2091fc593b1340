# METADATA
# scope: package
# title: Every namespace refuses incoming traffic that no policy allows
# description: |
#   Without a NetworkPolicy every pod of the cluster, and often more, reaches every port of a pod. A policy with an empty
#   podSelector and the policy type Ingress turns this round for all pods of the namespace. One that opens everything to
#   everybody does not count, nor does one beside a second policy that does: policies add up. Everybody is judged as in
#   network/allow-all-policy; the Internet on every port counts as open, too, whatever addresses are excepted.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-ingress-traffic
# - ref: https://kubernetes.io/docs/concepts/security/multi-tenancy/#network-isolation
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: ""
#       kinds: [Namespace]
#     derived: true
#   not_applicable: exempt_namespace
#   remediation: Add a NetworkPolicy that selects every pod and allows nothing, then one for each flow that is needed.
#   fix: |
#     apiVersion: networking.k8s.io/v1
#     kind: NetworkPolicy
#     metadata:
#       name: default-deny
#     spec:
#       podSelector: {}
#       policyTypes: [Ingress]
#   context:
#   - group: networking.k8s.io
#     kinds: [NetworkPolicy]
#     fields: [spec]
package network.namespace_default_deny

import data.lib.network
import data.lib.object as obj

default applies := false

applies if {
	obj.name != ""
	not exempt
}

default exempt := false

exempt if obj.name in data.parameters["network/namespace-default-deny"].exempt_namespaces

violations contains violation if {
	applies
	not isolated
	violation := {
		"path": ["metadata", "name"],
		"message": sprintf("no NetworkPolicy isolates all pods of namespace %s from incoming traffic", [obj.name]),
		"seen": sprintf("%d network policies", [count(network.policies(obj.name))]),
		"expected": "a NetworkPolicy with podSelector {} and policy type Ingress",
	}
}

violations contains violation if {
	applies
	isolated
	some policy in network.policies(obj.name)
	network.opens_all_pods(policy, "Ingress")
	violation := {
		"path": ["metadata", "name"],
		"message": sprintf("NetworkPolicy %s opens incoming traffic of all pods of namespace %s again", [
			obj.text(policy, ["metadata", "name"]),
			obj.name,
		]),
		"seen": policy.spec,
		"expected": "no policy that lets everything through, or the whole Internet, for all pods",
	}
}

default isolated := false

isolated if {
	some policy in network.policies(obj.name)
	network.isolates_all_pods(policy, "Ingress")
}
