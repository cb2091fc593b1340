package network.pod_selected_test

import data.lib.expect
import data.network.pod_selected as rule

outcome(object, policies) := expect.outcome(applies, violations) if {
	inventory := {"networking.k8s.io/NetworkPolicy": {"serving": policies}}
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

deployment := {
	"apiVersion": "apps/v1",
	"kind": "Deployment",
	"metadata": {"name": "vllm", "namespace": "serving"},
	"spec": {"template": {
		"metadata": {"labels": {"app": "vllm", "tier": "gpu"}},
		"spec": {"containers": [{"name": "c"}]},
	}},
}

policy(selector) := {"metadata": {"name": "p", "namespace": "serving"}, "spec": {"podSelector": selector}}

test_fails_when_nothing_selects if {
	outcome(deployment, []) == "fail"
	outcome(deployment, [policy({"matchLabels": {"app": "other"}})]) == "fail"
	outcome(deployment, [policy({"matchLabels": {"app": "vllm", "tier": "cpu"}})]) == "fail"
	outcome(deployment, [policy({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["vllm"]}]})]) == "fail"
	some violation in rule.violations with input as deployment with data.inventory as {}
	violation.path == ["spec", "template", "metadata", "labels"]
}

test_passes_when_selected if {
	outcome(deployment, [policy({"matchLabels": {"app": "vllm"}})]) == "pass"
	outcome(deployment, [policy({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gpu"]}]})]) == "pass"
	outcome(deployment, [policy({"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]})]) == "pass"
	outcome(deployment, [policy({})]) == "pass"
	every variant in expect.without(policy({}), ["spec", "podSelector"]) {
		outcome(deployment, [variant]) == "pass"
	}
}

test_policy_for_outgoing_traffic_does_not_count if {
	egress := {"metadata": {"name": "p", "namespace": "serving"}, "spec": {"podSelector": {}, "policyTypes": ["Egress"]}}
	outcome(deployment, [egress]) == "fail"
	outcome(deployment, [egress, policy({})]) == "pass"
	outcome(deployment, [expect.replaced(egress, ["spec", "policyTypes"], ["Egress", "Ingress"])]) == "pass"
	every variant in expect.without(egress, ["spec", "policyTypes"]) {
		outcome(deployment, [variant]) == "pass"
	}
}

test_policy_that_lets_everything_in_undoes_the_others if {
	every rules in [
		[{}],
		[{"from": [{"namespaceSelector": {}}]}],
		[{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}],
		[{"ports": [{"port": 1, "endPort": 65535}]}],
	] {
		open := expect.replaced(policy({"matchLabels": {"app": "vllm"}}), ["spec", "ingress"], rules)
		outcome(deployment, [open]) == "fail"
		outcome(deployment, [policy({}), open]) == "fail"
	}
	other := expect.replaced(policy({"matchLabels": {"app": "other"}}), ["spec", "ingress"], [{}])
	outcome(deployment, [policy({}), other]) == "pass"
	narrow := expect.replaced(policy({}), ["spec", "ingress"], [{"ports": [{"port": 8000}]}])
	outcome(deployment, [narrow]) == "pass"
}

test_policy_of_another_namespace_does_not_count if {
	outcome(expect.replaced(deployment, ["metadata", "namespace"], "research"), [policy({})]) == "fail"
}

test_each_template_is_judged if {
	cluster := {
		"apiVersion": "ray.io/v1",
		"kind": "RayCluster",
		"metadata": {"name": "r", "namespace": "serving"},
		"spec": {
			"headGroupSpec": {"template": {"metadata": {"labels": {"app": "head"}}, "spec": {}}},
			"workerGroupSpecs": [{"template": {"metadata": {"labels": {"app": "worker"}}, "spec": {}}}],
		},
	}
	found := rule.violations with input as cluster
		with data.inventory as {"networking.k8s.io/NetworkPolicy": {"serving": [policy({"matchLabels": {"app": "head"}})]}}
	{violation.path | some violation in found} == {["spec", "workerGroupSpecs", 0, "template", "metadata", "labels"]}
	outcome(cluster, [policy({"matchLabels": {"ray.io/cluster": "r"}})]) == "pass"
}

test_kinds_that_inline_the_pod_spec if {
	service := {
		"apiVersion": "serving.kserve.io/v1beta1",
		"kind": "InferenceService",
		"metadata": {"name": "i", "namespace": "serving"},
		"spec": {"predictor": {"labels": {"app": "vllm"}, "containers": [{"name": "c"}]}},
	}
	some violation in rule.violations with input as service with data.inventory as {}
	violation.path == ["spec", "predictor", "labels"]
	outcome(service, [policy({"matchLabels": {"app": "vllm"}})]) == "pass"
	outcome(service, [policy({"matchLabels": {"serving.kserve.io/inferenceservice": "i"}})]) == "pass"
}

test_no_labels if {
	every path in [["spec", "template", "metadata"], ["spec", "template", "metadata", "labels"]] {
		every variant in expect.without(deployment, path) {
			outcome(variant, [policy({"matchLabels": {"app": "vllm"}})]) == "fail"
			outcome(variant, [policy({})]) == "pass"
		}
	}
}

test_does_not_apply_on_the_host_network if {
	outcome(expect.replaced(deployment, ["spec", "template", "spec", "hostNetwork"], true), []) == "skip"
}

test_does_not_apply_without_pods if {
	outcome(object.remove(deployment, ["spec"]), []) == "skip"
	outcome({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, []) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(deployment) {
		outcome(variant, [policy({"matchLabels": {"app": "vllm"}})]) in {"skip", "pass", "fail"}
	}
	full := policy({"matchLabels": {"app": "vllm"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]})
	every variant in expect.damaged(full) {
		outcome(deployment, [variant]) in {"pass", "fail"}
	}
}
