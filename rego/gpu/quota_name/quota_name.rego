# METADATA
# scope: package
# title: GPU quotas use names that the quota counts
# description: |
#   A ResourceQuota counts an extended resource only under requests.<name>. The bare name, or limits.<name>, is accepted and
#   has no effect on pods, so the namespace has no GPU quota at all.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: ""
#       kinds: [ResourceQuota]
#   not_applicable: no_gpu_in_the_quota
#   remediation: Write the name with the prefix "requests."; limits need no quota of their own, they equal the requests.
#   fix: |
#     spec:
#       hard:
#         requests.nvidia.com/gpu: "8"
package gpu.quota_name

import data.lib.gpu
import data.lib.object as obj

default applies := false

applies if count(names) > 0

names := [name |
	some name, _ in obj.mapping(input, ["spec", "hard"])
	contains(name, "/")
	gpu.is_device(bare(name))
]

violations contains violation if {
	applies
	some name in names
	not startswith(name, "requests.")
	violation := {
		"path": ["spec", "hard", name],
		"message": sprintf("%s has no effect on pods without the prefix requests.", [name]),
		"seen": name,
		"expected": concat("", ["requests.", bare(name)]),
	}
}

bare(name) := trim_prefix(trim_prefix(name, "requests."), "limits.")
