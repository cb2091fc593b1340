# METADATA
# scope: package
# title: GPU pods name their runtime class
# description: |
#   The runtime that gives a container its GPU is chosen by runtimeClassName. Without one the node's default decides: on a node
#   whose default is not NVIDIA's the pod starts without a device, and where it is, every pod of the node runs with it. Only
#   NVIDIA's resources are asked, other vendors need no runtime of their own.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/containers/runtime-class/
# - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/index.html
# custom:
#   severity: low
#   match:
#     pod_templates: true
#   not_applicable: no_nvidia_gpu_asked_for
#   remediation: Name the RuntimeClass that the GPU operator installs, or a sandboxed one with GPU support, see the parameter classes.
#   fix: |
#     spec:
#       runtimeClassName: nvidia
package gpu.runtime_class

import data.lib.gpu
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(templates) > 0

templates := [asking.template |
	some asking in gpu.asking
	not asking.template.partial
	some name in asking.names
	startswith(name, "nvidia.com/")
]

violations contains violation if {
	applies
	some template in templates
	class := obj.text(template.spec, ["runtimeClassName"])
	not known(class)
	violation := {
		"path": workload.field_path(template, "runtimeClassName"),
		"message": message(class),
		"seen": object.get(template.spec, "runtimeClassName", null),
		"expected": "a runtime class that gives access to GPUs",
	}
}

default known(_) := false

known(class) if {
	class != ""
	some entry in data.parameters["gpu/runtime-class"].classes
	gpu.matches(class, entry)
}

message("") := "asks for a GPU without naming a runtime class"

message(class) := sprintf("runtime class %s is not known to give access to GPUs", [class]) if class != ""
