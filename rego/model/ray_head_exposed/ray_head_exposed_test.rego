package model.ray_head_exposed_test

import data.lib.expect
import data.model.ray_head_exposed as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

cluster(head) := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": {"headGroupSpec": head}}

bad := cluster({"serviceType": "LoadBalancer", "template": {}})

service(type) := {
	"apiVersion": "v1",
	"kind": "Service",
	"metadata": {"name": "s"},
	"spec": {"type": type, "selector": {"ray.io/node-type": "head"}},
}

ingress(name) := {
	"apiVersion": "networking.k8s.io/v1",
	"kind": "Ingress",
	"metadata": {"name": "i"},
	"spec": {"rules": [{"http": {"paths": [{"backend": {"service": {"name": name}}}]}}]},
}

test_fails_on_an_open_head if {
	paths(bad) == {["spec", "headGroupSpec", "serviceType"]}
	paths(cluster({"headService": {"spec": {"type": "NodePort"}}})) == {["spec", "headGroupSpec", "headService", "spec", "type"]}
	paths(cluster({"enableIngress": true})) == {["spec", "headGroupSpec", "enableIngress"]}
}

test_jobs_and_services_of_ray if {
	job := {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "j"}, "spec": {"rayClusterSpec": bad.spec}}
	paths(job) == {["spec", "rayClusterSpec", "headGroupSpec", "serviceType"]}
	serving := {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "s"}, "spec": {"rayClusterConfig": bad.spec}}
	paths(serving) == {["spec", "rayClusterConfig", "headGroupSpec", "serviceType"]}
	nightly := {"apiVersion": "ray.io/v1", "kind": "RayCronJob", "metadata": {"name": "n"}, "spec": {"jobTemplate": {"rayClusterSpec": bad.spec}}}
	paths(nightly) == {["spec", "jobTemplate", "rayClusterSpec", "headGroupSpec", "serviceType"]}
}

test_fails_on_what_the_head_takes_of_its_node if {
	paths(cluster({"template": {"spec": {"hostNetwork": true}}})) == {["spec", "headGroupSpec", "template", "spec", "hostNetwork"]}
	ported := cluster({"template": {"spec": {"containers": [{"name": "h", "ports": [{"containerPort": 8265}, {"containerPort": 8265, "hostPort": 8265}]}]}}})
	paths(ported) == {["spec", "headGroupSpec", "template", "spec", "containers", 0, "ports", 1, "hostPort"]}
	every value in [false, null, ""] {
		outcome(cluster({"template": {"spec": {"hostNetwork": value}}})) == "pass"
	}
}

selecting(selector) := {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "selector": selector}}

test_services_that_choose_the_head_by_other_labels if {
	outcome(selecting({"ray.io/identifier": "r-head"})) == "fail"
	outcome(selecting({"ray.io/cluster": "r"})) == "fail"
	outcome(selecting({"ray.io/cluster": "r", "ray.io/node-type": "head"})) == "fail"
	outcome(selecting({"ray.io/cluster": "r", "ray.io/node-type": "worker"})) == "skip"
	outcome(selecting({"ray.io/cluster": "r", "ray.io/serve": "true"})) == "skip"
	outcome(selecting({"app": "r-head"})) == "skip"
}

test_external_addresses_of_the_service if {
	addressed := expect.replaced(service("ClusterIP"), ["spec", "externalIPs"], ["203.0.113.7"])
	paths(addressed) == {["spec", "externalIPs", 0]}
	every variant in expect.without(addressed, ["spec", "externalIPs"]) {
		outcome(variant) == "pass"
	}
}

test_routes_that_lead_to_the_head if {
	http := {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "r"}, "spec": {"rules": [{"backendRefs": [{"name": "vllm"}, {"name": "r-head-svc"}]}]}}
	paths(http) == {["spec", "rules", 0, "backendRefs", 1, "name"]}
	route := {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": "r"}, "spec": {"to": {"name": "r-head-svc"}}}
	paths(route) == {["spec", "to", "name"]}
	outcome(expect.replaced(route, ["spec", "to", "name"], "vllm")) == "skip"
	lone := {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "r-head-svc"}}}}
	paths(lone) == {["spec", "defaultBackend", "service", "name"]}
	old := {"apiVersion": "extensions/v1beta1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": {"rules": [{"http": {"paths": [{"backend": {"serviceName": "r-head-svc"}}]}}]}}
	paths(old) == {["spec", "rules", 0, "http", "paths", 0, "backend", "serviceName"]}
}

test_passes_on_a_closed_head if {
	outcome(cluster({"serviceType": "ClusterIP", "enableIngress": false})) == "pass"
	every variant in expect.without(bad, ["spec", "headGroupSpec", "serviceType"]) {
		outcome(variant) == "pass"
	}
}

test_services_that_lead_to_the_head if {
	paths(service("NodePort")) == {["spec", "type"]}
	outcome(service("ClusterIP")) == "pass"
	every variant in expect.without(service("LoadBalancer"), ["spec", "type"]) {
		outcome(variant) == "pass"
	}
	every path in [["spec"], ["spec", "selector"], ["spec", "selector", "ray.io/node-type"]] {
		every variant in expect.without(service("LoadBalancer"), path) {
			outcome(variant) == "skip"
		}
	}
}

test_ingresses_that_lead_to_the_head if {
	paths(ingress("r-head-svc")) == {["spec", "rules", 0, "http", "paths", 0, "backend", "service", "name"]}
	outcome(ingress("vllm")) == "skip"
}

test_does_not_apply_without_head if {
	every path in [["spec"], ["spec", "headGroupSpec"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every object in [bad, service("NodePort"), ingress("r-head-svc")] {
		every variant in expect.damaged(object) {
			outcome(variant) in {"skip", "pass", "fail"}
		}
	}
}
