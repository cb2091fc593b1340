# METADATA
# scope: package
# title: Network policies, Services and host names
# description: |
#   What a NetworkPolicy selects and leaves open, which Service selects which pods, and how host names of routes are covered.
#   Only networking.k8s.io policies are read; those of a network plug-in (Cilium, Calico) or of an administrator are not.
package lib.network

import data.lib.object as obj
import data.lib.workload

# ---- network policies

# Policies of one namespace, from the inventory.
policies(namespace) := obj.in_namespace("networking.k8s.io/NetworkPolicy", namespace)

# A missing podSelector selects every pod of the namespace, as an empty one does.
pod_selector(policy) := obj.mapping(policy, ["spec", "podSelector"])

# True when no condition is left in the pod selector.
selects_all_pods(policy) if {
	selector := pod_selector(policy)
	count(obj.mapping(selector, ["matchLabels"])) == 0
	count(obj.list(selector, ["matchExpressions"])) == 0
}

# "Ingress" and "Egress" as the server fills them in: without policyTypes Ingress counts, and Egress where it has rules.
restricts(policy, direction) if direction in obj.list(policy, ["spec", "policyTypes"])

restricts(policy, "Ingress") if count(obj.list(policy, ["spec", "policyTypes"])) == 0

restricts(policy, "Egress") if {
	count(obj.list(policy, ["spec", "policyTypes"])) == 0
	count(obj.list(policy, ["spec", "egress"])) > 0
}

# Rules of one direction that let everything through: no peer or every address, on every port. {"path", "rule"}
open_rules(policy, direction) := [{"path": ["spec", fields[direction].rules, index], "rule": rule} |
	restricts(policy, direction)
	some index, rule in obj.list(policy, ["spec", fields[direction].rules])
	is_object(rule)
	count(obj.list(rule, ["ports"])) == 0
	every_peer(obj.list(rule, [fields[direction].peers]))
]

fields := {"Ingress": {"rules": "ingress", "peers": "from"}, "Egress": {"rules": "egress", "peers": "to"}}

every_peer([])

every_peer(peers) if {
	some peer in peers
	peer.ipBlock.cidr in everywhere
	count(obj.list(peer, ["ipBlock", "except"])) == 0
}

everywhere := {"0.0.0.0/0", "::/0"}

# A policy that isolates every pod of its namespace in one direction, and opens no more than it names.
isolates_all_pods(policy, direction) if {
	selects_all_pods(policy)
	restricts(policy, direction)
	count(open_rules(policy, direction)) == 0
}

# ---- labels of pods

# Labels of the pods of a template: its own, and those that the kind's controller adds and that people select by.
pod_labels(template) := object.union(obj.mapping(template, ["metadata", "labels"]), added) if {
	added := {label: obj.name |
		obj.name != ""
		some label in object.get(added_labels, workload.kind_key, [])
	}
}

added_labels := {
	"batch/Job": ["job-name", "batch.kubernetes.io/job-name"],
	"ray.io/RayCluster": ["ray.io/cluster"],
	"serving.kserve.io/InferenceService": ["serving.kserve.io/inferenceservice"],
	"jobset.x-k8s.io/JobSet": ["jobset.sigs.k8s.io/jobset-name"],
	"leaderworkerset.x-k8s.io/LeaderWorkerSet": ["leaderworkerset.sigs.k8s.io/name"],
	"kubeflow.org/PyTorchJob": ["training.kubeflow.org/job-name"],
	"batch.volcano.sh/Job": ["volcano.sh/job-name"],
}

# Where the labels of a template's pods stand: kinds that inline the pod spec put them beside its fields.
labels_path(template) := array.concat(template.path, ["labels"]) if {
	template.path == template.spec_path
	not startswith(workload.kind_key, "argoproj.io/")
} else := array.concat(template.path, ["metadata", "labels"])

# ---- services

# A Service selects pods by equal labels; one without selector selects none.
service_selects(service, labels) if {
	selector := obj.mapping(service, ["spec", "selector"])
	count(selector) > 0
	every key, value in selector {
		labels[key] == value
	}
}

# Internal load balancer: an annotation of the cloud says so, or only named address ranges get in. `rules` are the parameters
# of network/service-load-balancer.
internal_balancer(service, rules) if {
	some key, value in obj.mapping(service, ["metadata", "annotations"])
	lower(sprintf("%v", [value])) in rules.internal_annotations[key]
}

internal_balancer(service, rules) if {
	some key, _ in obj.mapping(service, ["metadata", "annotations"])
	"*" in rules.internal_annotations[key]
}

internal_balancer(service, _) if {
	ranges := obj.list(service, ["spec", "loadBalancerSourceRanges"])
	count(ranges) > 0
	every range in ranges {
		is_string(range)
		not trim_space(range) in everywhere
	}
}

# ---- host names

# A certificate's or listener's name covers a host when equal, or when a wildcard stands for its first label.
covers(name, host) if lower(name) == lower(host)

covers(name, host) if {
	startswith(name, "*.")
	not startswith(host, "*")
	dot := indexof(host, ".")
	dot > 0
	lower(substring(host, dot, -1)) == lower(substring(name, 1, -1))
}
