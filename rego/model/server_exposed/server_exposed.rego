# METADATA
# scope: package
# title: No model server is reachable from outside the cluster directly
# description: |
#   A model server answers whoever reaches it, at the price of GPU time, and often tells what it was asked before. It counts as
#   exposed when a Service of type LoadBalancer or NodePort, or with external addresses, selects its pods, when an Ingress, a
#   Route or a Gateway API route leads to it, when KServe, KubeRay or Knative publishes it, or when its pods are on the host
#   network or its container takes a port of the node. An internal load balancer and an Ingress with an authenticating annotation
#   do not count, nor does a port of the node's local address. Routes of service meshes (Istio, Traefik), UDPRoutes and Services
#   without selector are not followed.
# related_resources:
# - ref: https://genai.owasp.org/llmrisk/llm102025-unbounded-consumption/
# - ref: https://docs.vllm.ai/en/latest/usage/security.html
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_model_server
#   remediation: Put a gateway that authenticates, limits and logs in front of the server and give the server a ClusterIP Service.
#   fix: |
#     apiVersion: v1
#     kind: Service
#     metadata:
#       name: vllm
#     spec:
#       type: ClusterIP
#   context:
#   - kinds: [Service]
#     fields: [spec.type, spec.selector, spec.externalIPs, spec.loadBalancerSourceRanges]
#   - group: networking.k8s.io
#     kinds: [Ingress]
#     fields: [spec.defaultBackend, spec.backend, spec.rules]
#   - group: route.openshift.io
#     kinds: [Route]
#     fields: [spec.to, spec.alternateBackends]
#   - group: gateway.networking.k8s.io
#     kinds: [HTTPRoute, GRPCRoute, TCPRoute, TLSRoute]
#     fields: [spec.rules.backendRefs]
#   - group: inference.networking.k8s.io
#     kinds: [InferencePool]
#     fields: [spec.selector]
#   - group: inference.networking.x-k8s.io
#     kinds: [InferencePool]
#     fields: [spec.selector]
package model.server_exposed

import data.lib.model_server
import data.lib.network
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if {
	count(model_server.servers) > 0
	not workload.kind_key in published_elsewhere
}

applies if model_server.describes_server

applies if count(model_server.ray_models) > 0

# A runtime is published by the InferenceService that uses it.
published_elsewhere := {
	"PodTemplate",
	"serving.kserve.io/ServingRuntime",
	"serving.kserve.io/ClusterServingRuntime",
	"serving.kserve.io/LLMInferenceServiceConfig",
}

violations contains violation if {
	applies
	some template in model_server.serving_templates
	some way in ways(network.pod_labels(template))
	violation := {
		"path": network.labels_path(template),
		"message": sprintf("%s leads to the model server from outside the cluster", [way]),
		"seen": way,
		"expected": "only Services of type ClusterIP lead here, from a gateway that authenticates",
	}
}

# A node answers at its own address, past every Service.
violations contains violation if {
	applies
	some template in model_server.serving_templates
	not object.get(template.spec, "hostNetwork", false) in workload.off
	violation := {
		"path": workload.field_path(template, "hostNetwork"),
		"message": "the model server listens on the network of its node",
		"seen": template.spec.hostNetwork,
		"expected": false,
	}
}

violations contains violation if {
	applies
	some server in model_server.servers
	container := server.container
	some place, port in obj.list(container.value, ["ports"])
	number := obj.get(port, ["hostPort"], 0)
	not number in {0, ""}
	not obj.text(port, ["hostIP"]) in {"127.0.0.1", "::1"}
	violation := {
		"path": array.concat(container.path, ["ports", place, "hostPort"]),
		"message": sprintf("port %v of the node leads to the model server", [number]),
		"seen": number,
		"expected": null,
		"container": container.name,
	}
}

# KubeRay makes a Service for the models of a RayService, of the type that it is told.
violations contains violation if {
	applies
	workload.kind_key == "ray.io/RayService"
	type := obj.text(input, ["spec", "serveService", "spec", "type"])
	type in {"LoadBalancer", "NodePort"}
	violation := {
		"path": ["spec", "serveService", "spec", "type"],
		"message": sprintf("a Service of type %s leads to the model server", [type]),
		"seen": type,
		"expected": "ClusterIP",
	}
}

# KServe makes a route to an LLMInferenceService that names a router's route, be it empty.
violations contains violation if {
	applies
	workload.kind_key == "serving.kserve.io/LLMInferenceService"
	route := obj.get(input, ["spec", "router", "route"], null)
	route != null
	not authenticates(input)
	violation := {
		"path": ["spec", "router", "route"],
		"message": "is published through a gateway by its controller",
		"seen": route,
		"expected": "no route, or an annotation that puts authentication in front",
	}
}

# KServe and Knative publish what is not labelled as local to the cluster.
violations contains violation if {
	applies
	some label in object.get(local_labels, workload.kind_key, [])
	object.get(obj.labels, label, null) != "cluster-local"
	violation := {
		"path": ["metadata", "labels", label],
		"message": "is published outside the cluster by its controller",
		"seen": object.get(obj.labels, label, null),
		"expected": "cluster-local",
	}
}

local_labels := {
	"serving.kserve.io/InferenceService": ["networking.kserve.io/visibility"],
	"serving.knative.dev/Service": ["networking.knative.dev/visibility"],
}

# Everything that leads to pods with these labels, by name.
ways(labels) := array.concat(
	[sprintf("%s Service %s", [how, service.metadata.name]) |
		some service in selecting(labels)
		how := opening(service)
	],
	[sprintf("%s %s", [route.kind, route.metadata.name]) |
		targets := {["Service", service.metadata.name] | some service in selecting(labels)}
		pools := {["InferencePool", pool.metadata.name] | some pool in selecting_pools(labels)}
		some route in routes
		count(backends(route) & (targets | pools)) > 0
	],
)

selecting(labels) := [service |
	some service in obj.in_namespace("Service", obj.namespace)
	network.service_selects(service, labels)
]

selecting_pools(labels) := [pool |
	some kind in ["inference.networking.k8s.io/InferencePool", "inference.networking.x-k8s.io/InferencePool"]
	some pool in obj.in_namespace(kind, obj.namespace)
	selector := obj.mapping(pool, ["spec", "selector"])
	chosen := object.get(selector, "matchLabels", selector)
	is_object(chosen)
	count(chosen) > 0
	every key, value in chosen {
		labels[key] == value
	}
]

opening(service) := "LoadBalancer" if {
	service.spec.type == "LoadBalancer"
	open_by_type(service)
}

default open_by_type(_) := false

open_by_type(service) if service.spec.type == "NodePort"

open_by_type(service) if {
	service.spec.type == "LoadBalancer"
	not network.internal_balancer(service, balancer_rules)
}

balancer_rules := object.get(data.parameters, "network/service-load-balancer", {})

opening(service) := "NodePort" if service.spec.type == "NodePort"

opening(service) := "externally addressed" if {
	not open_by_type(service)
	count(obj.list(service, ["spec", "externalIPs"])) > 0
}

routes := array.concat(
	[route |
		some route in obj.in_namespace("networking.k8s.io/Ingress", obj.namespace)
		not authenticates(route)
	],
	array.concat(
		obj.in_namespace("route.openshift.io/Route", obj.namespace),
		[route |
			some kind in ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"]
			some route in obj.everywhere(concat("/", ["gateway.networking.k8s.io", kind]))
		],
	),
)

default authenticates(_) := false

authenticates(route) if {
	some key, value in obj.mapping(route, ["metadata", "annotations"])
	some wanted in model_server.known.authenticating_annotations[key]
	not obj.absent(value)
	not switched_off(value)
	wanted in {"*", value}
}

# Values by which controllers leave authentication out.
switched_off(value) if {
	is_string(value)
	lower(trim_space(value)) in {"", "none", "false", "off", "disabled"}
}

# What a route leads to, as [kind, name] in the namespace of the object under judgement.
backends(route) := {["Service", name] |
	some backend in array.concat(
		[obj.mapping(route, ["spec", field]) | some field in ["defaultBackend", "backend"]],
		[obj.mapping(path, ["backend"]) |
			some entry in obj.list(route, ["spec", "rules"])
			some path in obj.list(entry, ["http", "paths"])
		],
	)
	some field in [["service", "name"], ["serviceName"]]
	name := obj.text(backend, field)
	name != ""
} if {
	route.kind == "Ingress"
}

backends(route) := {["Service", name] |
	some target in array.concat([obj.mapping(route, ["spec", "to"])], obj.list(route, ["spec", "alternateBackends"]))
	name := obj.text(target, ["name"])
} if {
	route.kind == "Route"
}

backends(route) := {[kind, obj.text(reference, ["name"])] |
	some entry in obj.list(route, ["spec", "rules"])
	some reference in obj.list(entry, ["backendRefs"])
	kind := obj.get(reference, ["kind"], "Service")
	namespace := obj.get(reference, ["namespace"], obj.text(route, ["metadata", "namespace"]))
	same_namespace(namespace)
} if {
	endswith(route.kind, "Route")
	route.kind != "Route"
}

same_namespace(namespace) if namespace == obj.namespace

same_namespace(namespace) if {
	namespace in {"", "default"}
	obj.namespace in {"", "default"}
}
