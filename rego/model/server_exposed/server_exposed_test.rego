package model.server_exposed_test

import data.lib.expect
import data.model.server_exposed as rule

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

server := {
	"apiVersion": "apps/v1",
	"kind": "Deployment",
	"metadata": {"name": "vllm", "namespace": "serving"},
	"spec": {"template": {
		"metadata": {"labels": {"app": "vllm", "tier": "gpu"}},
		"spec": {"containers": [{"name": "c", "image": "vllm/vllm-openai:v0.11.0"}]},
	}},
}

named(kind, spec) := {
	"apiVersion": "v1",
	"kind": kind,
	"metadata": {"name": "front", "namespace": "serving"},
	"spec": spec,
}

service(type) := {"Service": {"serving": [named("Service", {"type": type, "selector": {"app": "vllm"}})]}}

with_front(key, object_) := object.union(service("ClusterIP"), {key: {"serving": [object_]}})

ingress := named("Ingress", {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "front"}}}]}}]})

http_route(reference) := named("HTTPRoute", {"rules": [{"backendRefs": [reference]}]})

test_fails_behind_an_open_service if {
	outcome(server, service("LoadBalancer")) == "fail"
	outcome(server, service("NodePort")) == "fail"
	addressed := named("Service", {"selector": {"app": "vllm"}, "externalIPs": ["203.0.113.7"]})
	outcome(server, {"Service": {"serving": [addressed]}}) == "fail"
	found := rule.violations with input as server with data.inventory as service("LoadBalancer")
	{violation.path | some violation in found} == {["spec", "template", "metadata", "labels"]}
	{violation.seen | some violation in found} == {"LoadBalancer Service front"}
}

test_passes_behind_an_internal_one if {
	outcome(server, service("ClusterIP")) == "pass"
	outcome(server, {}) == "pass"
	internal := object.union(
		named("Service", {"type": "LoadBalancer", "selector": {"app": "vllm"}}),
		{"metadata": {"annotations": {"networking.gke.io/load-balancer-type": "Internal"}}},
	)
	outcome(server, {"Service": {"serving": [internal]}}) == "pass"
}

test_service_of_other_pods_does_not_count if {
	other := named("Service", {"type": "LoadBalancer", "selector": {"app": "vllm", "tier": "cpu"}})
	outcome(server, {"Service": {"serving": [other]}}) == "pass"
	outcome(server, {"Service": {"research": service("LoadBalancer").Service.serving}}) == "pass"
	every variant in expect.without(named("Service", {"type": "LoadBalancer", "selector": {"app": "vllm"}}), ["spec", "selector"]) {
		outcome(server, {"Service": {"serving": [variant]}}) == "pass"
	}
}

test_fails_behind_an_ingress if {
	outcome(server, with_front("networking.k8s.io/Ingress", ingress)) == "fail"
	lone := named("Ingress", {"defaultBackend": {"service": {"name": "front"}}})
	outcome(server, with_front("networking.k8s.io/Ingress", lone)) == "fail"
	elsewhere := named("Ingress", {"defaultBackend": {"service": {"name": "other"}}})
	outcome(server, with_front("networking.k8s.io/Ingress", elsewhere)) == "pass"
}

test_passes_behind_an_ingress_that_authenticates if {
	authenticating := object.union(ingress, {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-url": "https://auth.example.com"}}})
	outcome(server, with_front("networking.k8s.io/Ingress", authenticating)) == "pass"
	every variant in expect.without(authenticating, ["metadata", "annotations", "nginx.ingress.kubernetes.io/auth-url"]) {
		outcome(server, with_front("networking.k8s.io/Ingress", variant)) == "fail"
	}
}

test_fails_behind_routes if {
	outcome(server, with_front("gateway.networking.k8s.io/HTTPRoute", http_route({"name": "front"}))) == "fail"
	outcome(server, with_front("gateway.networking.k8s.io/HTTPRoute", http_route({"name": "front", "namespace": "serving"}))) == "fail"
	outcome(server, with_front("gateway.networking.k8s.io/HTTPRoute", http_route({"name": "front", "namespace": "other"}))) == "pass"
	outcome(server, with_front("gateway.networking.k8s.io/HTTPRoute", http_route({"name": "other"}))) == "pass"
	openshift := named("Route", {"to": {"kind": "Service", "name": "front"}})
	outcome(server, with_front("route.openshift.io/Route", openshift)) == "fail"
}

test_fails_behind_an_ingress_of_the_first_versions if {
	every spec in [
		{"rules": [{"http": {"paths": [{"backend": {"serviceName": "front", "servicePort": 80}}]}}]},
		{"backend": {"serviceName": "front", "servicePort": 80}},
	] {
		outcome(server, with_front("networking.k8s.io/Ingress", named("Ingress", spec))) == "fail"
	}
	elsewhere := named("Ingress", {"backend": {"serviceName": "other", "servicePort": 80}})
	outcome(server, with_front("networking.k8s.io/Ingress", elsewhere)) == "pass"
}

test_authentication_that_is_switched_off if {
	every value in ["none", "None", "", " ", "off"] {
		annotations := {"nginx.ingress.kubernetes.io/auth-type": value}
		outcome(server, with_front("networking.k8s.io/Ingress", object.union(ingress, {"metadata": {"annotations": annotations}}))) == "fail"
	}
	basic := object.union(ingress, {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-type": "basic"}}})
	outcome(server, with_front("networking.k8s.io/Ingress", basic)) == "pass"
}

test_fails_behind_an_alternate_backend if {
	route := named("Route", {
		"to": {"kind": "Service", "name": "other"},
		"alternateBackends": [{"kind": "Service", "name": "front", "weight": 10}],
	})
	outcome(server, with_front("route.openshift.io/Route", route)) == "fail"
}

test_fails_behind_an_internal_balancer_with_external_addresses if {
	internal := object.union(
		named("Service", {"type": "LoadBalancer", "selector": {"app": "vllm"}, "externalIPs": ["203.0.113.7"]}),
		{"metadata": {"annotations": {"networking.gke.io/load-balancer-type": "Internal"}}},
	)
	outcome(server, {"Service": {"serving": [internal]}}) == "fail"
}

to_pool := http_route({"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "front"})

pool(selector) := {
	"gateway.networking.k8s.io/HTTPRoute": {"serving": [to_pool]},
	"inference.networking.k8s.io/InferencePool": {"serving": [named("InferencePool", {"selector": selector})]},
}

test_fails_behind_an_inference_pool if {
	outcome(server, pool({"matchLabels": {"app": "vllm"}})) == "fail"
	outcome(server, pool({"app": "vllm"})) == "fail"
	outcome(server, pool({"app": "other"})) == "pass"
}

test_kserve_publishes_unless_told_otherwise if {
	kserve := {
		"apiVersion": "serving.kserve.io/v1beta1",
		"kind": "InferenceService",
		"metadata": {"name": "i", "labels": {"networking.kserve.io/visibility": "cluster-local"}},
		"spec": {"predictor": {"model": {"modelFormat": {"name": "huggingface"}}}},
	}
	outcome(kserve, {}) == "pass"
	every path in [["metadata", "labels"], ["metadata", "labels", "networking.kserve.io/visibility"]] {
		every variant in expect.without(kserve, path) {
			outcome(variant, {}) == "fail"
		}
	}
}

in_pod(change) := object.union(server, {"spec": {"template": {"spec": change}}})

test_fails_on_the_host_network if {
	on_host := in_pod({"hostNetwork": true})
	outcome(on_host, {}) == "fail"
	found := rule.violations with input as on_host with data.inventory as {}
	{violation.path | some violation in found} == {["spec", "template", "spec", "hostNetwork"]}
	every value in [false, null, ""] {
		outcome(in_pod({"hostNetwork": value}), {}) == "pass"
	}
}

first := server.spec.template.spec.containers[0]

with_port(port) := in_pod({"containers": [object.union(first, {"ports": [port]})]})

test_fails_on_a_port_of_the_node if {
	bad := with_port({"containerPort": 8000, "hostPort": 8000})
	found := rule.violations with input as bad with data.inventory as {}
	{violation.path | some violation in found} == {["spec", "template", "spec", "containers", 0, "ports", 0, "hostPort"]}
	outcome(with_port({"containerPort": 8000, "hostPort": 8000, "hostIP": "0.0.0.0"}), {}) == "fail"
	outcome(with_port({"containerPort": 8000, "hostPort": 8000, "hostIP": "127.0.0.1"}), {}) == "pass"
	every value in [0, null, ""] {
		outcome(with_port({"containerPort": 8000, "hostPort": value}), {}) == "pass"
	}
	every variant in expect.without(bad, ["spec", "template", "spec", "containers", 0, "ports"]) {
		outcome(variant, {}) == "pass"
	}
	exporter := {"name": "exporter", "image": "r.test/dcgm-exporter:4", "ports": [{"containerPort": 9400, "hostPort": 9400}]}
	outcome(in_pod({"containers": [first, exporter]}), {}) == "pass"
}

ray_service(type) := {
	"apiVersion": "ray.io/v1",
	"kind": "RayService",
	"metadata": {"name": "r", "namespace": "serving"},
	"spec": {
		"serveConfigV2": yaml.marshal({"applications": [{"args": {"llm_configs": [{"model_loading_config": {"model_id": "org/m"}}]}}]}),
		"serveService": {"spec": {"type": type}},
	},
}

test_service_that_kuberay_makes if {
	outcome(ray_service("LoadBalancer"), {}) == "fail"
	outcome(ray_service("NodePort"), {}) == "fail"
	outcome(ray_service("ClusterIP"), {}) == "pass"
	every path in [["spec", "serveService"], ["spec", "serveService", "spec"], ["spec", "serveService", "spec", "type"]] {
		every variant in expect.without(ray_service("LoadBalancer"), path) {
			outcome(variant, {}) == "pass"
		}
	}
	outcome(object.remove(ray_service("LoadBalancer"), ["spec"]), {}) == "skip"
}

test_route_that_kserve_makes if {
	llm := {
		"apiVersion": "serving.kserve.io/v1alpha1",
		"kind": "LLMInferenceService",
		"metadata": {"name": "l", "namespace": "serving"},
		"spec": {"model": {"uri": "hf://org/m"}, "router": {"route": {}, "gateway": {}}},
	}
	found := rule.violations with input as llm with data.inventory as {}
	{violation.path | some violation in found} == {["spec", "router", "route"]}
	outcome(expect.replaced(llm, ["spec", "router", "route"], {"http": {}}), {}) == "fail"
	outcome(expect.replaced(llm, ["metadata", "annotations"], {"security.opendatahub.io/enable-auth": "true"}), {}) == "pass"
	outcome(expect.replaced(llm, ["metadata", "annotations"], {"security.opendatahub.io/enable-auth": "false"}), {}) == "fail"
	every value in [null, {"scheduler": {}}] {
		outcome(expect.replaced(llm, ["spec", "router"], value), {}) == "pass"
	}
}

test_labels_decide if {
	every path in [["spec", "template", "metadata"], ["spec", "template", "metadata", "labels"]] {
		every variant in expect.without(server, path) {
			outcome(variant, service("LoadBalancer")) == "pass"
		}
	}
}

test_does_not_apply_without_model_server if {
	other := expect.replaced(server, ["spec", "template", "spec", "containers", 0, "image"], "nginx:1")
	outcome(other, service("LoadBalancer")) == "skip"
	every variant in expect.without(server, ["spec", "template", "spec", "containers", 0, "image"]) {
		outcome(variant, service("LoadBalancer")) == "skip"
	}
	runtime := {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ServingRuntime", "metadata": {"name": "r"}, "spec": server.spec.template.spec}
	outcome(runtime, {}) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(server) {
		outcome(variant, service("LoadBalancer")) in {"skip", "pass", "fail"}
	}
}

test_answers_whatever_a_service_looks_like if {
	every variant in expect.damaged(service("NodePort").Service.serving[0]) {
		outcome(server, {"Service": {"serving": [variant]}}) in {"pass", "fail"}
	}
}

test_answers_whatever_an_ingress_looks_like if {
	every variant in expect.damaged(ingress) {
		outcome(server, with_front("networking.k8s.io/Ingress", variant)) in {"pass", "fail"}
	}
}

test_answers_whatever_a_route_looks_like if {
	every variant in expect.damaged(http_route({"name": "front"})) {
		outcome(server, with_front("gateway.networking.k8s.io/HTTPRoute", variant)) in {"pass", "fail"}
	}
}
