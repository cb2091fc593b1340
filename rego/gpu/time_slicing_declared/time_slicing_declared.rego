# METADATA
# scope: package
# title: Shared GPUs are declared as shared
# description: |
#   The device plugin can hand out one GPU many times. Unless renameByDefault is on, a time-sliced GPU is offered under the
#   name of a whole one, and a pod that counts on a device of its own gets a turn on one, without memory isolation. Unless
#   failRequestsGreaterThanOne is on, a pod that asks for two shares is given no more than for one.
# related_resources:
# - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
# - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: ""
#       kinds: [ConfigMap]
#   not_applicable: no_time_slicing_configuration
#   remediation: Set renameByDefault and failRequestsGreaterThanOne, and ask for nvidia.com/gpu.shared in the pods that share.
#   fix: |
#     sharing:
#       timeSlicing:
#         renameByDefault: true
#         failRequestsGreaterThanOne: true
package gpu.time_slicing_declared

import data.lib.object as obj

default applies := false

applies if count(configurations) > 0

# Files of the ConfigMap that configure time slicing: {key, settings}.
configurations := [{"key": key, "settings": settings} |
	some key, text in obj.mapping(input, ["data"])
	is_string(text)
	contains(text, "timeSlicing")
	yaml.is_valid(text)
	settings := yaml.unmarshal(text).sharing.timeSlicing
	is_object(settings)
]

violations contains violation if {
	applies
	some configuration in configurations
	some index, resource in obj.list(configuration.settings, ["resources"])
	not renamed(configuration.settings, resource)
	violation := {
		"path": ["data", configuration.key],
		"message": sprintf("%s is time-sliced under the name of a whole device", [obj.text(resource, ["name"])]),
		"seen": {"sharing": {"timeSlicing": {"resources": [{"index": index, "name": obj.text(resource, ["name"])}]}}},
		"expected": "renameByDefault: true, or a rename that ends in .shared",
	}
}

violations contains violation if {
	applies
	some configuration in configurations
	obj.get(configuration.settings, ["failRequestsGreaterThanOne"], null) != true
	violation := {
		"path": ["data", configuration.key],
		"message": "a request for more than one share is given no more than one",
		"seen": obj.get(configuration.settings, ["failRequestsGreaterThanOne"], null),
		"expected": "failRequestsGreaterThanOne: true",
	}
}

default renamed(_, _) := false

renamed(settings, _) if obj.get(settings, ["renameByDefault"], null) == true

renamed(_, resource) if endswith(obj.text(resource, ["rename"]), ".shared")
