package network.allow_all_policy_test

import data.lib.expect
import data.network.allow_all_policy as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

policy(spec) := {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": spec}

peer := {"podSelector": {"matchLabels": {"app": "gateway"}}}

bad := policy({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [peer]}, {}]})

test_fails_on_a_rule_without_peers_and_ports if {
	paths(bad) == {["spec", "ingress", 1]}
	every variant in expect.without(policy({"ingress": [{"from": [peer]}]}), ["spec", "ingress", 0, "from"]) {
		outcome(variant) == "fail"
	}
}

test_fails_on_open_egress if {
	paths(policy({"policyTypes": ["Egress"], "egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]})) == {["spec", "egress", 0]}
	outcome(policy({"egress": [{}]})) == "fail"
}

test_passes_on_named_peers_or_ports if {
	outcome(policy({"ingress": [{"from": [peer]}, {"ports": [{"port": 8000}]}]})) == "pass"
	outcome(policy({"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}]})) == "pass"
	outcome(policy({"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]}]})) == "pass"
}

test_fails_on_any_peer_however_it_is_written if {
	every peers in [
		[{"namespaceSelector": {}}],
		[{"namespaceSelector": {}, "podSelector": {}}],
		[peer, {"ipBlock": {"cidr": "::/0"}}],
		[{"ipBlock": {"cidr": "0.0.0.0/1"}}, {"ipBlock": {"cidr": "128.0.0.0/1"}}],
		[{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}],
	] {
		paths(policy({"ingress": [{"from": peers}]})) == {["spec", "ingress", 0]}
		paths(policy({"policyTypes": ["Egress"], "egress": [{"to": peers}]})) == {["spec", "egress", 0]}
	}
}

test_fails_on_any_port_however_it_is_written if {
	every ports in [[{"port": 1, "endPort": 65535}], [{"protocol": "TCP"}, {"protocol": "UDP"}], [{"port": 1024, "endPort": 65535}]] {
		paths(policy({"ingress": [{"ports": ports}]})) == {["spec", "ingress", 0]}
	}
	outcome(policy({"ingress": [{"ports": [{"port": 1024, "endPort": 2048}]}]})) == "pass"
}

test_fails_on_rules_that_open_everything_together if {
	halves := [{"to": [{"ipBlock": {"cidr": "0.0.0.0/1"}}]}, {"to": [{"ipBlock": {"cidr": "128.0.0.0/1"}}]}]
	paths(policy({"policyTypes": ["Egress"], "egress": halves})) == {["spec", "egress"]}
}

test_rules_of_a_direction_that_is_not_named_do_nothing if {
	outcome(policy({"policyTypes": ["Egress"], "ingress": [{}], "egress": [{"to": [peer]}]})) == "pass"
}

test_missing_policy_types if {
	every variant in expect.without(bad, ["spec", "policyTypes"]) {
		outcome(variant) == "fail"
	}
}

test_does_not_apply_without_rules if {
	outcome(policy({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})) == "skip"
	every path in [["spec"], ["spec", "ingress"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
