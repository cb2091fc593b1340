package network.ingress_wildcard_host_test

import data.lib.expect
import data.network.ingress_wildcard_host as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

ingress(spec) := {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": spec}

bad := ingress({"rules": [{"host": "a.example.com"}, {"host": "*.example.com"}]})

test_fails_on_a_wildcard if {
	paths(bad) == {["spec", "rules", 1, "host"]}
}

test_fails_without_host if {
	every variant in expect.without(bad, ["spec", "rules", 0, "host"]) {
		count(paths(variant)) == 2
	}
	paths(ingress({"defaultBackend": {"service": {"name": "s"}}})) == {["spec", "defaultBackend"]}
}

test_passes_on_named_hosts if {
	outcome(ingress({"rules": [{"host": "a.example.com"}]})) == "pass"
	paths(ingress({"rules": [{"host": "a.example.com"}], "defaultBackend": {"service": {"name": "s"}}})) == {["spec", "defaultBackend"]}
}

test_allowed_host if {
	outcome(bad) == "pass" with data.parameters["network/ingress-wildcard-host"].allowed_hosts as ["*.example.com"]
}

test_does_not_apply_without_routes if {
	every path in [["spec"], ["spec", "rules"]] {
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
