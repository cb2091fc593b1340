package network.namespace_default_deny_test

import data.lib.expect
import data.network.namespace_default_deny as rule

outcome(object, policies) := expect.outcome(applies, violations) if {
	inventory := {"networking.k8s.io/NetworkPolicy": {"serving": policies}}
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

namespace := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving"}}

policy(spec) := {"metadata": {"name": "p", "namespace": "serving"}, "spec": spec}

deny := policy({"podSelector": {}, "policyTypes": ["Ingress"]})

test_fails_without_policy if {
	outcome(namespace, []) == "fail"
	some violation in rule.violations with input as namespace with data.inventory as {"networking.k8s.io/NetworkPolicy": {}}
	violation.path == ["metadata", "name"]
	violation.seen == "0 network policies"
}

test_passes_with_default_deny if {
	outcome(namespace, [deny]) == "pass"
}

test_passes_when_all_pods_are_isolated_with_exceptions if {
	rules := [{"from": [{"podSelector": {}}]}, {"ports": [{"port": 53}]}]
	outcome(namespace, [policy({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules})]) == "pass"
}

test_policy_of_another_namespace_does_not_count if {
	elsewhere := {"networking.k8s.io/NetworkPolicy": {"research": [deny]}}
	count(rule.violations) == 1 with input as namespace with data.inventory as elsewhere
}

test_other_direction_does_not_count if {
	outcome(namespace, [policy({"podSelector": {}, "policyTypes": ["Egress"]})]) == "fail"
}

test_policy_for_some_pods_does_not_count if {
	outcome(namespace, [policy({"podSelector": {"matchLabels": {"app": "vllm"}}, "policyTypes": ["Ingress"]})]) == "fail"
	expressions := [{"key": "app", "operator": "Exists"}]
	outcome(namespace, [policy({"podSelector": {"matchExpressions": expressions}, "policyTypes": ["Ingress"]})]) == "fail"
}

test_open_policy_does_not_count if {
	every peers in [
		[],
		null,
		[{"ipBlock": {"cidr": "0.0.0.0/0"}}],
		[{"ipBlock": {"cidr": "::/0"}}],
		[{"ipBlock": {"cidr": "0.0.0.0/1"}}, {"ipBlock": {"cidr": "128.0.0.0/1"}}],
		[{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}],
		[{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]}}],
		[{"namespaceSelector": {}}],
		[{"namespaceSelector": {}, "podSelector": {}}],
	] {
		rules := [{"from": peers}]
		outcome(namespace, [policy({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules})]) == "fail"
	}
}

test_range_of_named_ports_is_not_open if {
	rules := [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]}]
	outcome(namespace, [policy({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules})]) == "pass"
}

test_a_second_policy_may_not_open_all_pods_again if {
	every selector in [{}, null, {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}] {
		again := policy({"podSelector": selector, "policyTypes": ["Ingress"], "ingress": [{}]})
		outcome(namespace, [deny, again]) == "fail"
		outcome(namespace, [again, deny]) == "fail"
	}
	some_pods := policy({"podSelector": {"matchLabels": {"app": "gateway"}}, "policyTypes": ["Ingress"], "ingress": [{}]})
	outcome(namespace, [deny, some_pods]) == "pass"
	narrow := policy({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": [{"port": 53}]}]})
	outcome(namespace, [deny, narrow]) == "pass"
}

test_missing_selector_selects_all_pods if {
	every variant in expect.without(deny, ["spec", "podSelector"]) {
		outcome(namespace, [variant]) == "pass"
	}
}

test_missing_policy_types if {
	every variant in expect.without(deny, ["spec", "policyTypes"]) {
		outcome(namespace, [variant]) == "pass"
	}
	rules := [{"from": [{"podSelector": {}}]}]
	outcome(namespace, [policy({"ingress": rules})]) == "pass"
}

test_does_not_apply_to_exempt_namespaces if {
	outcome(expect.replaced(namespace, ["metadata", "name"], "kube-system"), []) == "skip"
	every path in [["metadata"], ["metadata", "name"]] {
		every variant in expect.without(namespace, path) {
			outcome(variant, []) == "skip"
		}
	}
}

test_another_exempt_namespace if {
	outcome(namespace, []) == "skip" with data.parameters["network/namespace-default-deny"].exempt_namespaces as ["serving"]
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(deny) {
		outcome(namespace, [variant]) in {"pass", "fail"}
	}
	every variant in expect.damaged(namespace) {
		outcome(variant, [deny]) in {"skip", "pass", "fail"}
	}
}
