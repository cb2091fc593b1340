# METADATA
# scope: package
# title: Clusters with GPU workloads run the device plugin
# description: |
#   A node offers GPUs only through its vendor's device plugin. When workloads of the cluster ask for a vendor's devices, the
#   plugin's DaemonSet, its operator's configuration, or a Node that already offers such a device must be there. Vendors that
#   the parameter plugins does not list are not judged.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
# - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: fleetaudit.dev
#       kinds: [Cluster]
#     derived: true
#   not_applicable: no_gpu_asked_for
#   remediation: Install the vendor's device plugin or operator on the cluster and check what the nodes list under allocatable.
#   fix: |
#     apiVersion: nvidia.com/v1
#     kind: ClusterPolicy
#     metadata:
#       name: cluster-policy
#   context:
#   - kinds: [Pod]
#     fields: [spec.containers.resources]
#   - kinds: [Node]
#     fields: [status.allocatable]
#   - group: apps
#     kinds: [Deployment, StatefulSet]
#     fields: [spec.template.spec.containers.resources]
#   - group: apps
#     kinds: [DaemonSet]
#     fields: [spec.template.spec.containers.image]
#   - group: batch
#     kinds: [Job]
#     fields: [spec.template.spec.containers.resources]
#   - group: batch
#     kinds: [CronJob]
#     fields: [spec.jobTemplate.spec.template.spec.containers.resources]
#   - group: ray.io
#     kinds: [RayCluster]
#     fields: [spec.workerGroupSpecs.template.spec.containers.resources]
#   - group: ray.io
#     kinds: [RayService]
#     fields: [spec.rayClusterConfig.workerGroupSpecs.template.spec.containers.resources]
#   - group: ray.io
#     kinds: [RayJob]
#     fields: [spec.rayClusterSpec.workerGroupSpecs.template.spec.containers.resources]
#   - group: serving.kserve.io
#     kinds: [InferenceService]
#     fields: [spec.predictor.model.resources, spec.predictor.containers.resources]
#   - group: kubeflow.org
#     kinds: [PyTorchJob]
#     fields: [spec.pytorchReplicaSpecs.*.template.spec.containers.resources]
#   - group: leaderworkerset.x-k8s.io
#     kinds: [LeaderWorkerSet]
#     fields: [spec.leaderWorkerTemplate.workerTemplate.spec.containers.resources]
#   - group: nvidia.com
#     kinds: [ClusterPolicy]
#   - group: amd.com
#     kinds: [DeviceConfig]
#   - group: deviceplugin.intel.com
#     kinds: [GpuDevicePlugin]
package gpu.device_plugin_present

import data.lib.gpu
import data.lib.object as obj
import data.lib.quantity

default applies := false

applies if {
	input.kind == "Cluster"
	count(vendors) > 0
}

violations contains violation if {
	applies
	some vendor in vendors
	not offered(vendor)
	violation := {
		"path": ["metadata", "name"],
		"message": sprintf("workloads ask for devices of %s, but nothing offers them", [vendor]),
		"seen": vendor,
		"expected": "the vendor's device plugin, its operator, or a node that offers the device",
	}
}

plugins := data.parameters["gpu/device-plugin-present"].plugins

# Vendors, by the domain of their resources, whose devices are asked for.
vendors := {vendor |
	some resources in asked
	some list in ["limits", "requests"]
	some name, _ in obj.mapping(resources, [list])
	contains(name, "/")
	gpu.is_device(name)
	vendor := split(name, "/")[0]
	plugins[vendor]
}

asked := [resources |
	some kind, places in holders
	some item in obj.everywhere(kind)
	some place in places
	some container in containers(item, place)
	resources := obj.mapping(container, ["resources"])
	count(resources) > 0
]

# Where kinds keep containers. A null in a path stands for every element of a list or mapping, once.
holders := {
	"Pod": [["spec", "containers"]],
	"apps/Deployment": [["spec", "template", "spec", "containers"]],
	"apps/StatefulSet": [["spec", "template", "spec", "containers"]],
	"batch/Job": [["spec", "template", "spec", "containers"]],
	"batch/CronJob": [["spec", "jobTemplate", "spec", "template", "spec", "containers"]],
	"ray.io/RayCluster": [["spec", "workerGroupSpecs", null, "template", "spec", "containers"]],
	"ray.io/RayService": [["spec", "rayClusterConfig", "workerGroupSpecs", null, "template", "spec", "containers"]],
	"ray.io/RayJob": [["spec", "rayClusterSpec", "workerGroupSpecs", null, "template", "spec", "containers"]],
	"serving.kserve.io/InferenceService": [["spec", "predictor", "containers"], ["spec", "predictor", "model"]],
	"kubeflow.org/PyTorchJob": [["spec", "pytorchReplicaSpecs", null, "template", "spec", "containers"]],
	"leaderworkerset.x-k8s.io/LeaderWorkerSet": [["spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers"]],
}

containers(item, place) := found if {
	found := object.get(item, place, null)
	is_array(found)
} else := [found] if {
	found := object.get(item, place, null)
	is_object(found)
} else := [container |
	star := [index | some index, segment in place; segment == null][0]
	some part in object.get(item, array.slice(place, 0, star), [])
	some container in obj.list(part, array.slice(place, star + 1, count(place)))
]

offered(vendor) if {
	some node in obj.everywhere("Node")
	some name, number in obj.mapping(node, ["status", "allocatable"])
	startswith(name, concat("", [vendor, "/"]))
	quantity.positive(number)
}

offered(vendor) if {
	some kind in plugins[vendor].operators
	count(obj.everywhere(kind)) > 0
}

offered(vendor) if {
	some item in obj.everywhere("apps/DaemonSet")
	some name in plugins[vendor].names
	some text in array.concat(
		[obj.text(item, ["metadata", "name"])],
		[obj.text(container, ["image"]) | some container in obj.list(item, ["spec", "template", "spec", "containers"])],
	)
	contains(text, name)
}
