# METADATA
# scope: package
# title: No network policy lets everything through
# description: |
#   Policies add up: one rule for any peer on any port undoes every default deny for the pods it selects. Any peer is no peer at
#   all, the pods of every namespace (an empty selector, or one that only leaves some out), and every address, also in halves,
#   over several rules, or with exceptions smaller than one network (an IPv4 /16, an IPv6 /48). Any port is no list of ports, all
#   ports of TCP, and a list that leaves out only the privileged ones.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/#allow-all-ingress-traffic
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: networking.k8s.io
#       kinds: [NetworkPolicy]
#   not_applicable: no_rules
#   remediation: Name the peers, or at least the ports, that the rule is about.
#   fix: |
#     ingress:
#     - from:
#       - podSelector:
#           matchLabels:
#             app: gateway
#       ports:
#       - port: 8000
package network.allow_all_policy

import data.lib.network
import data.lib.object as obj

default applies := false

applies if {
	some direction, field in network.fields
	network.restricts(input, direction)
	count(obj.list(input, ["spec", field.rules])) > 0
}

violations contains violation if {
	applies
	some direction, field in network.fields
	some open in network.open_rules(input, direction)
	violation := {
		"path": open.path,
		"message": sprintf("allows all %s traffic of the pods it selects", [lower(direction)]),
		"seen": open.rule,
		"expected": sprintf("named peers under %s, or named ports", [field.peers]),
	}
}
