# METADATA
# scope: package
# title: The Ray dashboard is bound to the pod, or asks for a token
# description: |
#   The dashboard runs jobs for whoever reaches it. KubeRay binds it to every address unless dashboard-host says otherwise. It
#   passes when it is bound to a local address, switched off, or when token authentication is on (authOptions of the object, or
#   RAY_AUTH_MODE in the head's container). Pods that run `ray start --head` themselves are judged by their flag.
# related_resources:
# - ref: https://docs.ray.io/en/latest/ray-security/token-auth.html
# - ref: https://docs.ray.io/en/latest/ray-security/index.html
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_ray_head
#   remediation: Turn on token authentication, or bind the dashboard to 127.0.0.1 where no job is submitted from outside the pod.
#   fix: |
#     spec:
#       authOptions:
#         mode: token
package model.ray_dashboard_bound

import data.lib.model_server
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(heads) + count(started) > 0

# A Ray object's head group: {path, spec, cluster}, cluster the mapping that authOptions stands in.
heads := [{"path": path, "spec": spec, "cluster": cluster} |
	outer := places[workload.kind_key]
	cluster := obj.mapping(input, outer)
	path := array.concat(outer, ["headGroupSpec"])
	spec := obj.mapping(input, path)
	count(spec) > 0
]

places := {
	"ray.io/RayCluster": ["spec"],
	"ray.io/RayJob": ["spec", "rayClusterSpec"],
	"ray.io/RayService": ["spec", "rayClusterConfig"],
	"ray.io/RayCronJob": ["spec", "jobTemplate", "rayClusterSpec"],
}

violations contains violation if {
	applies
	some head in heads
	not local(obj.get(head.spec, ["rayStartParams", "dashboard-host"], ""))
	not off(obj.get(head.spec, ["rayStartParams", "include-dashboard"], ""))
	obj.text(head.cluster, ["authOptions", "mode"]) != "token"
	not token_in(array.slice(obj.list(head.spec, ["template", "spec", "containers"]), 0, 1))
	violation := {
		"path": array.concat(head.path, ["rayStartParams", "dashboard-host"]),
		"message": "the Ray dashboard listens on every address and asks for no token",
		"seen": obj.get(head.spec, ["rayStartParams", "dashboard-host"], null),
		"expected": "authOptions.mode token, or a local address",
	}
}

# Containers outside of Ray objects that start a head: {container, hosts}. Ray's own default is a local address.
started := [{"container": container, "hosts": hosts} |
	not startswith(workload.kind_key, "ray.io/")
	some container in workload.containers
	line := model_server.command_line(container.value)
	contains(line, "ray start")
	words := model_server.words(container)
	some word in words
	word.text == "--head"
	hosts := model_server.flag_values(words, ["--dashboard-host"])
]

violations contains violation if {
	applies
	some start in started
	some host in start.hosts
	not local(host.value)
	not token_in([start.container.value])
	violation := {
		"path": host.path,
		"message": "the Ray dashboard listens on every address and asks for no token",
		"seen": host.value,
		"expected": "RAY_AUTH_MODE=token, or a local address",
		"container": start.container.name,
	}
}

default local(_) := false

local(address) if address in data.parameters["model/ray-dashboard-bound"].local_addresses

# The parameters are texts, but YAML authors write booleans.
off(value) if value in {"false", "False", false}

default token_in(_) := false

# Ray runs in the first container of a group's pods.
token_in(containers) if {
	some container in containers
	some entry in obj.list(container, ["env"])
	entry.name == "RAY_AUTH_MODE"
	entry.value == "token"
}
