# METADATA
# scope: package
# title: GPUs are asked for in whole numbers
# description: |
#   A device, a MIG slice or a time share is given whole or not at all. 2000m is the whole number 2; 0.5 and 500m are
#   refused. Parts of a device have names of their own.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
# - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_gpu_asked_for
#   remediation: Ask for a whole number; for a part of a device use a MIG slice or a time-sliced name.
#   fix: |
#     resources:
#       limits:
#         nvidia.com/mig-1g.10gb: 1
package gpu.whole_devices

import data.lib.gpu
import data.lib.quantity

default applies := false

applies if count(gpu.claims) > 0

violations contains violation if {
	applies
	some claim in gpu.claims
	some list, value in {"requests": claim.request, "limits": claim.limit}
	value != null
	not whole(quantity.parse(value))
	violation := gpu.violation(claim, [list, claim.name], {
		"message": sprintf("%v of %s is not a whole number of devices", [value, claim.name]),
		"seen": value,
		"expected": "a whole number",
	})
}

default whole(_) := false

whole(parsed) if {
	parsed.valid
	parsed.digits
	parsed.nano >= 0
	parsed.nano % 1000000000 == 0
}
