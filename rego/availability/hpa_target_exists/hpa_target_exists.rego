# METADATA
# scope: package
# title: An autoscaler has a target
# description: |
#   An autoscaler whose target does not exist scales nothing and nobody is told. Looks in the autoscaler's namespace
#   for the kinds that the rule reads: Deployment, StatefulSet, ReplicaSet, ReplicationController, Rollout and
#   LeaderWorkerSet; other kinds of target are not judged. A KEDA ScaledObject without a kind means a Deployment.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
# custom:
#   severity: medium
#   match: {kinds: [{group: autoscaling, kinds: [HorizontalPodAutoscaler]}, {group: keda.sh, kinds: [ScaledObject]}]}
#   not_applicable: target_kind_not_read
#   context:
#     - {group: apps, kinds: [Deployment, StatefulSet, ReplicaSet], fields: []}
#     - {group: "", kinds: [ReplicationController], fields: []}
#     - {group: argoproj.io, kinds: [Rollout], fields: []}
#     - {group: leaderworkerset.x-k8s.io, kinds: [LeaderWorkerSet], fields: []}
#   remediation: >-
#     Name an existing workload in scaleTargetRef, with its apiVersion and kind.
#   fix: |
#     scaleTargetRef:
#       apiVersion: apps/v1
#       kind: Deployment
#       name: model-server
package availability.hpa_target_exists

import data.lib.object as obj

default applies := false

applies if known_kinds[kind_key]

applies if reference == {}

violations contains v if {
	reference != {}
	known_kinds[kind_key]
	not exists
	v := {
		"path": ["spec", "scaleTargetRef", "name"],
		"message": sprintf("%s %s is not among the objects of its namespace", [kind, name]),
		"seen": name,
		"expected": sprintf("the name of a %s", [kind]),
	}
}

violations contains v if {
	reference == {}
	v := {
		"path": ["spec", "scaleTargetRef"],
		"message": "the autoscaler names no target",
		"seen": null,
		"expected": "a reference to a workload",
	}
}

exists if {
	some item in obj.in_namespace(kind_key, obj.namespace)
	item.metadata.name == name
}

reference := obj.mapping(input, ["spec", "scaleTargetRef"])

name := obj.text(reference, ["name"])

kind := obj.get(reference, ["kind"], "Deployment")

kind_key := group_kind(split(obj.get(reference, ["apiVersion"], default_version), "/")[0])

# Without an apiVersion the server goes by the kind; KEDA means apps/v1.
default_version := object.get(versions, kind, "apps/v1")

versions := {
	"ReplicationController": "v1",
	"Rollout": "argoproj.io/v1alpha1",
	"LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
}

group_kind("v1") := kind

group_kind(group) := concat("/", [group, kind]) if group != "v1"

known_kinds := {
	"apps/Deployment",
	"apps/StatefulSet",
	"apps/ReplicaSet",
	"ReplicationController",
	"argoproj.io/Rollout",
	"leaderworkerset.x-k8s.io/LeaderWorkerSet",
}
