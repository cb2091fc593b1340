# METADATA
# scope: package
# title: MIG slices have names that a driver offers
# description: |
#   The device plugin names a slice nvidia.com/mig-<compute>g.<memory>gb, with .me or .gfx for extra engines and .shared for
#   time slicing. Any other name, or a pair of compute and memory that no GPU has, is a resource that no node offers: the pod
#   waits for ever.
# related_resources:
# - ref: https://docs.nvidia.com/datacenter/cloud-native/kubernetes/latest/index.html
# - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_mig_slice_asked_for
#   remediation: Use the name that the node lists under allocatable. Profiles of newer GPUs can be added to the parameter profiles.
#   fix: |
#     resources:
#       limits:
#         nvidia.com/mig-1g.10gb: 1
package gpu.mig_resource_names

import data.lib.gpu

default applies := false

applies if count(slices) > 0

# Names meant as MIG slices, rightly spelled or not.
slices := [named |
	some named in gpu.extended
	regex.match(`(?i)^nvidia\.com/(mig|[1-7]g\.)`, named.name)
]

violations contains violation if {
	applies
	some named in slices
	not known(named.name)
	some list in ["requests", "limits"]
	object.get(named[list], named.name, null) != null
	violation := gpu.violation(named, [list, named.name], {
		"message": sprintf("%s is not the name of a MIG profile", [named.name]),
		"seen": named.name,
		"expected": "nvidia.com/mig-<compute>g.<memory>gb of a profile that exists",
	})
}

default known(_) := false

known(name) if {
	parts := regex.find_all_string_submatch_n(`^nvidia\.com/mig-([1-7]g\.[0-9]+gb)(?:[.-](?:me|gfx|me\.all))?(?:\.shared)?$`, name, 1)
	parts[0][1] in data.parameters["gpu/mig-resource-names"].profiles
}
