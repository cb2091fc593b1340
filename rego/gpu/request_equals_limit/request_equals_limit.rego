# METADATA
# scope: package
# title: GPU requests equal their limits
# description: |
#   Extended resources are never overcommitted: a request needs a limit, and both must be the same number. A limit alone is
#   right, the server copies it. The API server refuses a Pod that breaks this, but it does not look into the pod templates of
#   Ray, KServe or Kubeflow objects, whose pods then never start.
# related_resources:
# - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
# - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_gpu_asked_for
#   remediation: Put the number of devices under limits only, or the same number under both.
#   fix: |
#     resources:
#       limits:
#         nvidia.com/gpu: 1
package gpu.request_equals_limit

import data.lib.gpu
import data.lib.quantity

default applies := false

applies if count(gpu.claims) > 0

violations contains violation if {
	applies
	some claim in gpu.claims
	claim.request != null
	claim.limit == null
	violation := gpu.violation(claim, ["limits", claim.name], {
		"message": sprintf("requests %s without a limit", [claim.name]),
		"seen": null,
		"expected": claim.request,
	})
}

violations contains violation if {
	applies
	some claim in gpu.claims
	claim.request != null
	claim.limit != null
	claim.request != claim.limit
	not quantity.same(claim.request, claim.limit)
	violation := gpu.violation(claim, ["requests", claim.name], {
		"message": sprintf("requests %v of %s but limits it to %v", [claim.request, claim.name, claim.limit]),
		"seen": claim.request,
		"expected": claim.limit,
	})
}
