# METADATA
# scope: package
# title: Network policies, Services and host names
# description: |
#   What a NetworkPolicy selects and leaves open, which Service selects which pods, and how host names of routes are covered.
#   Only networking.k8s.io policies are read; those of a network plug-in (Cilium, Calico) or of an administrator are not.
package lib.network

import data.lib.address
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

# Rules of one direction that let everything through, each alone or all of them together: any peer, on every port.
# {"path", "rule"}
open_rules(policy, direction) := alone if {
	alone := [{"path": ["spec", fields[direction].rules, rule.index], "rule": rule.value} |
		some rule in rules(policy, direction)
		every_port(rule.ports)
		anybody(rule.peers)
	]
	count(alone) > 0
} else := [{"path": ["spec", fields[direction].rules], "rule": policy.spec[fields[direction].rules]}] if {
	open_together(rules(policy, direction))
} else := []

# Rules of one direction that the policy restricts: {"index", "value", "ports", "peers"}.
rules(policy, direction) := [rule |
	restricts(policy, direction)
	some index, value in obj.list(policy, ["spec", fields[direction].rules])
	rule := {
		"index": index,
		"value": value,
		"ports": obj.list(value, ["ports"]),
		"peers": obj.list(value, [fields[direction].peers]),
	}
]

fields := {"Ingress": {"rules": "ingress", "peers": "from"}, "Egress": {"rules": "egress", "peers": "to"}}

# Rules add up: ranges of addresses over several rules, or ports over several.
open_together(all_rules) if {
	count(all_rules) > 1
	address.everything(blocks(all_rules))
} else if {
	count(all_rules) > 1
	every_port([port | some rule in all_rules; anybody(rule.peers); some port in rule.ports])
	some rule in all_rules
	anybody(rule.peers)
} else := false

# Addresses that are let through on every port.
blocks(all_rules) := [block |
	some rule in all_rules
	every_port(rule.ports)
	some peer in rule.peers
	block := obj.mapping(peer, ["ipBlock"])
	count(block) > 0
]

# No peer is named, or one of them is everybody.
anybody([])

anybody(peers) if {
	some peer in peers
	any_pod(peer)
}

anybody(peers) if address.everything([block |
	some peer in peers
	block := obj.mapping(peer, ["ipBlock"])
	count(block) > 0
])

# Pods of every namespace, or of all but those that are left out.
any_pod(peer) if {
	count(obj.mapping(peer, ["ipBlock"])) == 0
	names_nothing(obj.get(peer, ["namespaceSelector"], null))
	names_nothing(obj.get(peer, ["podSelector"], {}))
}

# A peer without anything in it. The server refuses it; whoever does not lets anybody in.
any_pod(peer) if {
	every field in ["ipBlock", "namespaceSelector", "podSelector"] {
		obj.get(peer, [field], null) == null
	}
}

# A label selector that is empty, or that only leaves something out. Every namespace carries its name as a label.
names_nothing(selector) if {
	is_object(selector)
	count(obj.mapping(selector, ["matchLabels"])) == 0
	every requirement in obj.list(selector, ["matchExpressions"]) {
		leaves_out(obj.text(requirement, ["operator"]), obj.text(requirement, ["key"]))
	}
}

leaves_out("NotIn", _)

leaves_out("DoesNotExist", _)

leaves_out("Exists", "kubernetes.io/metadata.name")

# No list of ports, or one that leaves out at most the thousand privileged ones. TCP decides: a list without UDP or SCTP closes
# nothing that programs here are reached by.
every_port([])

every_port(ports) if {
	some port in ports
	obj.get(port, ["port"], null) == null
	tcp(port)
}

every_port(ports) if {
	some port in ports
	is_number(port.endPort)
	ranges := [{"from": entry.port, "to": obj.get(entry, ["endPort"], entry.port)} |
		some entry in ports
		tcp(entry)
		is_number(entry.port)
	]
	cuts := sort({cut | some range in ranges; some cut in [range.from, range.to + 1]})
	covered := [length |
		some index, start in array.slice(cuts, 0, count(cuts) - 1)
		inside(ranges, start)
		length := cuts[index + 1] - start
	]
	sum(covered) >= 64511
}

# Quickly: a rule that names its ports one by one never comes to every port.
single_ports(rule) if {
	is_array(rule.ports)
	count(rule.ports) > 0
	every port in rule.ports {
		port.port
		not port.endPort
	}
}

tcp(port) if obj.get(port, ["protocol"], "TCP") == "TCP"

inside(ranges, port) if {
	some range in ranges
	range.from <= port
	port <= range.to
}

# A policy that isolates every pod of its namespace in one direction, and opens no more than it names.
isolates_all_pods(policy, direction) if {
	selects_all_pods(policy)
	restricts(policy, direction)
	not opens_wide(policy, direction)
}

# A policy that takes isolation back for all pods of the namespace, or all but those it leaves out.
opens_all_pods(policy, direction) if {
	names_nothing(pod_selector(policy))
	opens_wide(policy, direction)
}

# Lets everything through, or the Internet on every port: an exception for private addresses still leaves the Internet.
opens_wide(policy, direction) if {
	count(open_rules(policy, direction)) > 0
} else if {
	address.most(blocks(rules(policy, direction)))
} else := false

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

# Internal load balancer: an annotation of the cloud says so, or only named address ranges get in. `settings` are the parameters
# of network/service-load-balancer.
internal_balancer(service, settings) if {
	some key, value in obj.mapping(service, ["metadata", "annotations"])
	lower(sprintf("%v", [value])) in settings.internal_annotations[key]
}

internal_balancer(service, settings) if {
	some key, value in obj.mapping(service, ["metadata", "annotations"])
	not obj.absent(value)
	"*" in settings.internal_annotations[key]
}

internal_balancer(service, _) if {
	ranges := [{"cidr": trim_space(range)} |
		some range in obj.list(service, ["spec", "loadBalancerSourceRanges"])
		is_string(range)
	]
	count(ranges) > 0
	every range in ranges {
		address.valid(range.cidr)
	}
	not address.most(ranges)
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
