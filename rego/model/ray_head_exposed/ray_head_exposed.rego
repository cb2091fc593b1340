# METADATA
# scope: package
# title: The Ray head is not reachable from outside the cluster
# description: |
#   Whoever reaches the head's dashboard or client port submits jobs, that is, runs any code on every node of the Ray cluster.
#   By default nothing asks for credentials (CVE-2023-48022). The head's Service must be of type ClusterIP without external
#   addresses, no Ingress or route may lead to it, and its pod takes neither the network nor a port of the node.
# related_resources:
# - ref: https://docs.ray.io/en/latest/ray-security/index.html
# - ref: https://nvd.nist.gov/vuln/detail/CVE-2023-48022
# custom:
#   severity: critical
#   match:
#     kinds:
#     - group: ray.io
#       kinds: [RayCluster, RayJob, RayService, RayCronJob]
#     - group: ""
#       kinds: [Service]
#     - group: networking.k8s.io
#       kinds: [Ingress]
#     - group: extensions
#       kinds: [Ingress]
#     - group: route.openshift.io
#       kinds: [Route]
#     - group: gateway.networking.k8s.io
#       kinds: [HTTPRoute, GRPCRoute, TCPRoute, TLSRoute]
#   not_applicable: no_ray_head
#   remediation: Give the head a ClusterIP Service, drop the Ingress, and reach the dashboard by port-forwarding or an authenticating proxy.
#   fix: |
#     spec:
#       headGroupSpec:
#         serviceType: ClusterIP
#       enableIngress: false
package model.ray_head_exposed

import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(heads) > 0

applies if leads_to_head

applies if count(head_backends) > 0

# Where a Ray object describes its head group.
heads := [{"path": path, "spec": spec} |
	path := places[workload.kind_key]
	spec := obj.mapping(input, path)
	count(spec) > 0
]

places := {
	"ray.io/RayCluster": ["spec", "headGroupSpec"],
	"ray.io/RayJob": ["spec", "rayClusterSpec", "headGroupSpec"],
	"ray.io/RayService": ["spec", "rayClusterConfig", "headGroupSpec"],
	"ray.io/RayCronJob": ["spec", "jobTemplate", "rayClusterSpec", "headGroupSpec"],
}

outside := {"LoadBalancer", "NodePort"}

violations contains violation if {
	applies
	some head in heads
	some field in [["serviceType"], ["headService", "spec", "type"]]
	type := obj.text(head.spec, field)
	type in outside
	violation := {
		"path": array.concat(head.path, field),
		"message": sprintf("the Ray head has a Service of type %s", [type]),
		"seen": type,
		"expected": "ClusterIP",
	}
}

violations contains violation if {
	applies
	some head in heads
	obj.get(head.spec, ["enableIngress"], false) == true
	violation := {
		"path": array.concat(head.path, ["enableIngress"]),
		"message": "an Ingress leads to the Ray head",
		"seen": true,
		"expected": false,
	}
}

violations contains violation if {
	applies
	some head in heads
	pod := obj.mapping(head.spec, ["template", "spec"])
	not object.get(pod, "hostNetwork", false) in workload.off
	violation := {
		"path": array.concat(head.path, ["template", "spec", "hostNetwork"]),
		"message": "the Ray head listens on the network of its node",
		"seen": pod.hostNetwork,
		"expected": false,
	}
}

# Ray runs in the first container of a group's pods.
violations contains violation if {
	applies
	some head in heads
	some j, port in obj.list(obj.list(head.spec, ["template", "spec", "containers"])[0], ["ports"])
	number := obj.get(port, ["hostPort"], 0)
	not number in {0, ""}
	violation := {
		"path": array.concat(head.path, ["template", "spec", "containers", 0, "ports", j, "hostPort"]),
		"message": sprintf("port %v of the node leads to the Ray head", [number]),
		"seen": number,
		"expected": null,
	}
}

default leads_to_head := false

leads_to_head if {
	workload.kind_key == "Service"
	chooses_head(obj.mapping(input, ["spec", "selector"]))
}

chooses_head(selector) if selector["ray.io/node-type"] == "head"

# KubeRay calls a head <cluster>-head.
chooses_head(selector) if endswith(obj.text(selector, ["ray.io/identifier"]), "-head")

# A whole cluster, the head with it; pods that answer for Ray Serve are chosen by a label of their own.
chooses_head(selector) if {
	obj.text(selector, ["ray.io/cluster"]) != ""
	every label in ["ray.io/node-type", "ray.io/identifier", "ray.io/group", "ray.io/serve"] {
		obj.absent(obj.get(selector, [label], null))
	}
}

violations contains violation if {
	leads_to_head
	type := obj.text(input, ["spec", "type"])
	type in outside
	violation := {
		"path": ["spec", "type"],
		"message": sprintf("a Service of type %s leads to the Ray head", [type]),
		"seen": type,
		"expected": "ClusterIP",
	}
}

violations contains violation if {
	leads_to_head
	some index, address in obj.list(input, ["spec", "externalIPs"])
	violation := {
		"path": ["spec", "externalIPs", index],
		"message": "an external address leads to the Ray head",
		"seen": address,
		"expected": "no external addresses",
	}
}

# KubeRay names the head's Service <cluster>-head-svc.
head_backends := [{"path": place.path, "name": name} |
	some place in backends
	name := obj.text(place.value, place.field)
	endswith(name, "-head-svc")
]

# Where an Ingress or a route names a Service: {"path", "value", "field"}, the field as a path in the value.
backends := array.concat(
	[{"path": ["spec", "defaultBackend", "service", "name"], "value": input, "field": ["spec", "defaultBackend", "service", "name"]}],
	[{"path": array.concat(["spec", "rules", i, "http", "paths", j, "backend"], field), "value": backend, "field": field} |
		some i, rule in obj.list(input, ["spec", "rules"])
		some j, route in obj.list(rule, ["http", "paths"])
		backend := obj.mapping(route, ["backend"])
		some field in [["service", "name"], ["serviceName"]]
	],
) if {
	input.kind == "Ingress"
} else := [{"path": ["spec", "to", "name"], "value": input, "field": ["spec", "to", "name"]}] if {
	input.kind == "Route"
} else := [{"path": ["spec", "rules", i, "backendRefs", j, "name"], "value": reference, "field": ["name"]} |
	some i, rule in obj.list(input, ["spec", "rules"])
	some j, reference in obj.list(rule, ["backendRefs"])
] if {
	startswith(workload.kind_key, "gateway.networking.k8s.io/")
} else := []

violations contains violation if {
	some backend in head_backends
	violation := {
		"path": backend.path,
		"message": sprintf("leads to the Ray head behind %s", [backend.name]),
		"seen": backend.name,
		"expected": "no route to the head, or one through an authenticating proxy",
	}
}
