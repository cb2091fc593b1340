package network.service_node_port_test

import data.lib.expect
import data.network.service_node_port as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

service(spec) := {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "serving"}, "spec": spec}

bad := service({"type": "NodePort", "ports": [{"port": 80}]})

test_fails_on_node_ports if {
	paths(bad) == {["spec", "type"]}
}

test_passes_on_other_types if {
	outcome(service({"type": "ClusterIP"})) == "pass"
	outcome(service({"type": "LoadBalancer"})) == "pass"
	every variant in expect.without(bad, ["spec", "type"]) {
		outcome(variant) == "pass"
	}
}

test_allowed_namespace if {
	outcome(bad) == "pass" with data.parameters["network/service-node-port"].allowed_namespaces as ["serving"]
	every variant in expect.without(bad, ["metadata", "namespace"]) {
		outcome(variant) == "fail"
	}
}

test_does_not_apply_to_names_outside if {
	outcome(service({"type": "ExternalName", "externalName": "example.com"})) == "skip"
	outcome(object.remove(bad, ["spec"])) == "skip"
	outcome(expect.replaced(bad, ["spec"], null)) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
