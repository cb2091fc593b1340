package network.service_load_balancer_test

import data.lib.expect
import data.network.service_load_balancer as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

service(spec) := {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "serving"}, "spec": spec}

bad := service({"type": "LoadBalancer", "ports": [{"port": 80}]})

annotated(key, value) := expect.replaced(bad, ["metadata", "annotations"], {key: value})

test_fails_on_an_open_load_balancer if {
	paths(bad) == {["spec", "type"]}
}

test_passes_when_internal if {
	outcome(annotated("service.beta.kubernetes.io/aws-load-balancer-scheme", "internal")) == "pass"
	outcome(annotated("networking.gke.io/load-balancer-type", "Internal")) == "pass"
	outcome(annotated("service.kubernetes.io/qcloud-loadbalancer-internal-subnetid", "subnet-1")) == "pass"
	outcome(annotated("service.beta.kubernetes.io/azure-load-balancer-internal", true)) == "pass"
}

test_fails_on_other_annotations if {
	outcome(annotated("service.beta.kubernetes.io/aws-load-balancer-scheme", "internet-facing")) == "fail"
	outcome(annotated("service.beta.kubernetes.io/azure-load-balancer-internal", "false")) == "fail"
	outcome(annotated("example.test/note", "*")) == "fail"
	outcome(annotated("service.kubernetes.io/qcloud-loadbalancer-internal-subnetid", "")) == "fail"
	every variant in expect.without(annotated("networking.gke.io/load-balancer-type", "Internal"), ["metadata", "annotations"]) {
		outcome(variant) == "fail"
	}
}

test_source_ranges if {
	outcome(expect.replaced(bad, ["spec", "loadBalancerSourceRanges"], ["203.0.113.0/24"])) == "pass"
	outcome(expect.replaced(bad, ["spec", "loadBalancerSourceRanges"], ["203.0.113.0/24", "0.0.0.0/0"])) == "fail"
	every ranges in [["0.0.0.0/1", "128.0.0.0/1"], ["0.0.0.0/00"], ["10.0.0.1/0"], ["::/0"], ["not a range"], ["203.0.113.0/24", ""]] {
		outcome(expect.replaced(bad, ["spec", "loadBalancerSourceRanges"], ranges)) == "fail"
	}
	every ranges in [null, "", [], {}, [7]] {
		outcome(expect.replaced(bad, ["spec", "loadBalancerSourceRanges"], ranges)) == "fail"
	}
}

test_allowed_namespace if {
	outcome(bad) == "pass" with data.parameters["network/service-load-balancer"].allowed_namespaces as ["serving"]
	every variant in expect.without(bad, ["metadata", "namespace"]) {
		outcome(variant) == "fail"
	}
}

test_does_not_apply_to_other_types if {
	outcome(service({"type": "NodePort"})) == "skip"
	every path in [["spec"], ["spec", "type"]] {
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
