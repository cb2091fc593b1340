package network.gateway_tls_test

import data.lib.expect
import data.network.gateway_tls as rule

outcome(object, routes) := expect.outcome(applies, violations) if {
	inventory := {"gateway.networking.k8s.io/HTTPRoute": {"edge": routes}}
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

paths(object) := {violation.path | some violation in rule.violations with input as object with data.inventory as {}}

gateway(listeners) := {
	"apiVersion": "gateway.networking.k8s.io/v1",
	"kind": "Gateway",
	"metadata": {"name": "g", "namespace": "edge"},
	"spec": {"listeners": listeners},
}

https := {"name": "https", "port": 443, "protocol": "HTTPS", "tls": {"mode": "Terminate", "certificateRefs": [{"name": "c"}]}}

http := {"name": "http", "port": 80, "protocol": "HTTP"}

bad := gateway([https, http])

route(parent, filters) := {
	"metadata": {"name": "r", "namespace": "edge"},
	"spec": {"parentRefs": [parent], "rules": [{"filters": filters}]},
}

redirect := [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}}]

test_fails_on_http if {
	paths(bad) == {["spec", "listeners", 1, "protocol"]}
	outcome(bad, []) == "fail"
}

test_passes_on_https if {
	outcome(gateway([https]), []) == "pass"
}

test_fails_without_certificate if {
	every path in [["spec", "listeners", 0, "tls"], ["spec", "listeners", 0, "tls", "certificateRefs"]] {
		every variant in expect.without(gateway([https]), path) {
			paths(variant) == {["spec", "listeners", 0, "tls", "certificateRefs"]}
		}
	}
}

test_certificate_without_a_name_is_none if {
	every references in [[null], [{}], [{"name": ""}], [{"name": null}]] {
		paths(gateway([object.union(https, {"tls": {"certificateRefs": references}})])) == {["spec", "listeners", 0, "tls", "certificateRefs"]}
	}
}

with_grpc(parent) := count(violations) if {
	violations := rule.violations with input as bad
		with data.inventory as {
			"gateway.networking.k8s.io/HTTPRoute": {"edge": [route({"name": "g"}, redirect)]},
			"gateway.networking.k8s.io/GRPCRoute": {"edge": [{"metadata": {"name": "r", "namespace": "edge"}, "spec": {"parentRefs": [parent]}}]},
		}
}

test_grpc_beside_redirects_is_in_the_clear if {
	with_grpc({"name": "g"}) == 1
	with_grpc({"name": "g", "sectionName": "http"}) == 1
	with_grpc({"name": "g", "sectionName": "https"}) == 0
	with_grpc({"name": "other"}) == 0
}

test_passthrough if {
	outcome(gateway([{"name": "t", "protocol": "TLS", "tls": {"mode": "Passthrough"}}]), []) == "pass"
	outcome(gateway([{"name": "t", "protocol": "HTTPS", "tls": {"mode": "Passthrough"}}]), []) == "fail"
}

test_certificate_by_options if {
	options := {"networking.gke.io/pre-shared-certs": "c"}
	outcome(gateway([{"name": "t", "protocol": "HTTPS", "tls": {"options": options}}]), []) == "pass"
}

test_redirects_are_allowed_in_the_clear if {
	outcome(bad, [route({"name": "g", "sectionName": "http"}, redirect)]) == "pass"
	outcome(bad, [route({"name": "g"}, redirect)]) == "pass"
	outcome(bad, [route({"name": "g", "namespace": "edge"}, redirect)]) == "pass"
}

test_other_routes_are_not if {
	outcome(bad, [route({"name": "g"}, [])]) == "fail"
	outcome(bad, [route({"name": "g"}, redirect), route({"name": "g", "sectionName": "http"}, [])]) == "fail"
	outcome(bad, [route({"name": "other"}, redirect)]) == "fail"
	outcome(bad, [route({"name": "g", "namespace": "other"}, redirect)]) == "fail"
	outcome(bad, [route({"name": "g", "kind": "Service"}, redirect)]) == "fail"
	outcome(bad, [route({"name": "g"}, [{"type": "RequestRedirect", "requestRedirect": {"path": {}}}])]) == "fail"
	outcome(bad, [route({"name": "g"}, redirect), route({"name": "g", "sectionName": "https"}, [])]) == "pass"
}

test_does_not_apply_without_web_listener if {
	outcome(gateway([{"name": "db", "protocol": "TCP"}]), []) == "skip"
	every path in [["spec"], ["spec", "listeners"]] {
		every variant in expect.without(bad, path) {
			outcome(variant, []) == "skip"
		}
	}
	every variant in expect.without(gateway([http]), ["spec", "listeners", 0, "protocol"]) {
		outcome(variant, []) == "skip"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant, [route({"name": "g"}, redirect)]) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged(route({"name": "g", "sectionName": "http"}, redirect)) {
		outcome(bad, [variant]) in {"pass", "fail"}
	}
}
