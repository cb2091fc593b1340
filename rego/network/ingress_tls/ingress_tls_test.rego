package network.ingress_tls_test

import data.lib.expect
import data.network.ingress_tls as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

ingress(spec) := {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": spec}

bad := ingress({"rules": [{"host": "a.example.com"}, {"host": "b.example.com"}], "tls": [{"hosts": ["a.example.com"], "secretName": "a"}]})

test_fails_on_the_host_without_certificate if {
	paths(bad) == {["spec", "rules", 1, "host"]}
}

test_passes_when_each_host_is_covered if {
	outcome(ingress({"rules": [{"host": "a.example.com"}], "tls": [{"hosts": ["A.example.com"]}]})) == "pass"
	outcome(ingress({"rules": [{"host": "a.example.com"}], "tls": [{"hosts": ["*.example.com"]}]})) == "pass"
	outcome(ingress({"rules": [{"host": "*.example.com"}], "tls": [{"hosts": ["*.example.com"]}]})) == "pass"
}

test_wildcard_stands_for_one_label if {
	outcome(ingress({"rules": [{"host": "a.b.example.com"}], "tls": [{"hosts": ["*.example.com"]}]})) == "fail"
	outcome(ingress({"rules": [{"host": "example.com"}], "tls": [{"hosts": ["*.example.com"]}]})) == "fail"
	outcome(ingress({"rules": [{"host": "*.b.example.com"}], "tls": [{"hosts": ["*.example.com"]}]})) == "fail"
}

test_entry_without_hosts_covers_all if {
	every variant in expect.without(bad, ["spec", "tls", 0, "hosts"]) {
		outcome(variant) == "pass"
	}
}

test_fails_without_tls if {
	every variant in expect.without(bad, ["spec", "tls"]) {
		count(paths(variant)) == 2
	}
	every variant in expect.without(bad, ["spec", "tls", 0]) {
		outcome(variant) in {"pass", "fail"}
	}
	outcome(expect.replaced(bad, ["spec", "tls"], [null])) == "fail"
}

test_rule_without_host if {
	every variant in expect.without(bad, ["spec", "rules", 1, "host"]) {
		paths(variant) == {["spec", "rules", 1, "host"]}
	}
}

test_lone_default_backend if {
	paths(ingress({"defaultBackend": {"service": {"name": "s"}}})) == {["spec", "defaultBackend"]}
	outcome(ingress({"defaultBackend": {"service": {"name": "s"}}, "tls": [{"secretName": "t"}]})) == "pass"
}

test_default_backend_beside_rules if {
	served := {"rules": [{"host": "a.example.com"}], "defaultBackend": {"service": {"name": "s"}}}
	paths(ingress(object.union(served, {"tls": [{"hosts": ["a.example.com"]}]}))) == {["spec", "defaultBackend"]}
	outcome(ingress(object.union(served, {"tls": [{"secretName": "t"}]}))) == "pass"
}

test_annotation_that_names_no_certificate if {
	every value in ["none", "None", " "] {
		outcome(expect.replaced(bad, ["metadata", "annotations"], {"alb.ingress.kubernetes.io/certificate-arn": value})) == "fail"
	}
}

test_tls_at_the_load_balancer if {
	annotations := {"alb.ingress.kubernetes.io/certificate-arn": "arn:example"}
	outcome(expect.replaced(bad, ["metadata", "annotations"], annotations)) == "pass"
	outcome(expect.replaced(bad, ["metadata", "annotations"], {"alb.ingress.kubernetes.io/certificate-arn": ""})) == "fail"
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
