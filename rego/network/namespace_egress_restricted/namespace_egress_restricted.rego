# METADATA
# scope: package
# title: Every namespace restricts outgoing traffic
# description: |
#   Outgoing traffic is how data, weights and prompts leave, and how a process that was broken into fetches what it needs. A
#   policy with an empty podSelector and the policy type Egress limits all pods of the namespace to what policies allow. One
#   that opens everything does not count, nor does one beside a second policy that does: policies add up. Everything is judged
#   as in network/allow-all-policy; the Internet on every port counts as open, too, whatever addresses are excepted.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-egress-traffic
# - ref: https://kubernetes.io/docs/concepts/security/multi-tenancy/#network-isolation
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: ""
#       kinds: [Namespace]
#     derived: true
#   not_applicable: exempt_namespace
#   remediation: Add a NetworkPolicy that selects every pod with the policy type Egress, and allow DNS and the destinations in use.
#   fix: |
#     apiVersion: networking.k8s.io/v1
#     kind: NetworkPolicy
#     metadata:
#       name: default-deny-egress
#     spec:
#       podSelector: {}
#       policyTypes: [Egress]
#   context:
#   - group: networking.k8s.io
#     kinds: [NetworkPolicy]
#     fields: [spec]
package network.namespace_egress_restricted

import data.lib.network
import data.lib.object as obj

default applies := false

applies if {
	obj.name != ""
	not exempt
}

default exempt := false

exempt if obj.name in data.parameters["network/namespace-egress-restricted"].exempt_namespaces

violations contains violation if {
	applies
	not restricted
	violation := {
		"path": ["metadata", "name"],
		"message": sprintf("no NetworkPolicy restricts outgoing traffic of all pods of namespace %s", [obj.name]),
		"seen": sprintf("%d network policies", [count(network.policies(obj.name))]),
		"expected": "a NetworkPolicy with podSelector {} and policy type Egress",
	}
}

violations contains violation if {
	applies
	restricted
	some policy in network.policies(obj.name)
	network.opens_all_pods(policy, "Egress")
	violation := {
		"path": ["metadata", "name"],
		"message": sprintf("NetworkPolicy %s opens outgoing traffic of all pods of namespace %s again", [
			obj.text(policy, ["metadata", "name"]),
			obj.name,
		]),
		"seen": policy.spec,
		"expected": "no policy that lets everything through, or the whole Internet, for all pods",
	}
}

default restricted := false

restricted if {
	some policy in network.policies(obj.name)
	network.isolates_all_pods(policy, "Egress")
}
