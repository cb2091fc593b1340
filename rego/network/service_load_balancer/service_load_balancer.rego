# METADATA
# scope: package
# title: Load balancers are internal, narrowed or expected
# description: |
#   A Service of type LoadBalancer asks the cloud for an address that is public unless an annotation says otherwise. It passes
#   when it carries such an annotation, when loadBalancerSourceRanges names address ranges, or in a namespace that is meant to
#   hold public entrances (parameters).
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/service/#internal-load-balancer
# - ref: https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: ""
#       kinds: [Service]
#   not_applicable: not_a_load_balancer
#   remediation: Use type ClusterIP behind the cluster's gateway, or mark the load balancer as internal.
#   fix: |
#     spec:
#       type: ClusterIP
package network.service_load_balancer

import data.lib.network
import data.lib.object as obj

default applies := false

applies if obj.text(input, ["spec", "type"]) == "LoadBalancer"

violations contains violation if {
	applies
	not expected
	violation := {
		"path": ["spec", "type"],
		"message": "asks for a load balancer that anyone may reach",
		"seen": "LoadBalancer",
		"expected": "ClusterIP, an internal load balancer, or loadBalancerSourceRanges",
	}
}

default expected := false

expected if network.internal_balancer(input, rules)

expected if obj.namespace in rules.allowed_namespaces

rules := data.parameters["network/service-load-balancer"]
