package network.service_external_ips_test

import data.lib.expect
import data.network.service_external_ips as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

service(spec) := {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "serving"}, "spec": spec}

bad := service({"type": "ClusterIP", "externalIPs": ["203.0.113.7"]})

test_fails_on_external_addresses if {
	paths(bad) == {["spec", "externalIPs", 0]}
	paths(service({"externalIPs": ["203.0.113.7", "203.0.113.8"]})) == {["spec", "externalIPs", 0], ["spec", "externalIPs", 1]}
}

test_passes_without if {
	every variant in expect.without(bad, ["spec", "externalIPs"]) {
		outcome(variant) == "pass"
	}
	every variant in expect.without(bad, ["spec", "externalIPs", 0]) {
		outcome(variant) == "pass"
	}
}

test_allowed_address if {
	outcome(bad) == "pass" with data.parameters["network/service-external-ips"].allowed_addresses as ["203.0.113.7"]
}

test_does_not_apply_to_names_outside if {
	outcome(service({"type": "ExternalName", "externalIPs": ["203.0.113.7"]})) == "skip"
	outcome(object.remove(bad, ["spec"])) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
