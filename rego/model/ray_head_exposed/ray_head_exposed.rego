# METADATA
# scope: package
# title: The Ray head is not reachable from outside the cluster
# description: |
#   Whoever reaches the head's dashboard or client port submits jobs, that is, runs any code on every node of the Ray cluster.
#   By default nothing asks for credentials (CVE-2023-48022). The head's Service must be of type ClusterIP, and no Ingress may
#   lead to it.
# related_resources:
# - ref: https://docs.ray.io/en/latest/ray-security/index.html
# - ref: https://nvd.nist.gov/vuln/detail/CVE-2023-48022
# custom:
#   severity: critical
#   match:
#     kinds:
#     - group: ray.io
#       kinds: [RayCluster, RayJob, RayService]
#     - group: ""
#       kinds: [Service]
#     - group: networking.k8s.io
#       kinds: [Ingress]
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

default leads_to_head := false

leads_to_head if {
	workload.kind_key == "Service"
	obj.text(input, ["spec", "selector", "ray.io/node-type"]) == "head"
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

# KubeRay names the head's Service <cluster>-head-svc.
head_backends := [{"path": path, "name": name} |
	workload.kind_key == "networking.k8s.io/Ingress"
	some entry in array.concat(
		[{"path": ["spec", "defaultBackend"], "backend": obj.mapping(input, ["spec", "defaultBackend"])}],
		[{"path": ["spec", "rules", i, "http", "paths", j, "backend"], "backend": obj.mapping(route, ["backend"])} |
			some i, rule in obj.list(input, ["spec", "rules"])
			some j, route in obj.list(rule, ["http", "paths"])
		],
	)
	name := obj.text(entry.backend, ["service", "name"])
	endswith(name, "-head-svc")
	path := array.concat(entry.path, ["service", "name"])
]

violations contains violation if {
	some backend in head_backends
	violation := {
		"path": backend.path,
		"message": sprintf("leads to the Ray head behind %s", [backend.name]),
		"seen": backend.name,
		"expected": "no route to the head, or one through an authenticating proxy",
	}
}
