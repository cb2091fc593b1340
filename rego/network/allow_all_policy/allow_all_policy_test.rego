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
