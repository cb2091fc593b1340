# METADATA
# scope: package
# title: Memory is limited
# description: |
#   A container without a memory limit can drive its node out of memory and take every neighbour with it. Asked of
#   main containers, init containers and sidecars, never of ephemeral ones, which can't have limits. A limit of the
#   whole pod (spec.resources) counts. A limit of 0 is no limit for the runtime, and what is no quantity limits
#   nothing.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     Set limits.memory. For model servers, count weights on the host, pinned buffers and shared memory.
#   fix: |
#     resources:
#       limits:
#         memory: 16Gi
package resources.memory_limit

import data.lib.workload

default applies := false

applies if count(workload.resource_containers) > 0

violations contains v if {
	some c in workload.resource_containers
	not workload.has_resource(c.value, "limits", "memory")
	not workload.has_resource(workload.templates[c.template].spec, "limits", "memory")
	limit := workload.resource(c.value, "limits", "memory")
	v := {
		"path": array.concat(c.path, ["resources", "limits", "memory"]),
		"message": message(c.name, limit),
		"seen": limit,
		"expected": "a quantity above 0",
		"container": c.name,
	}
}

message(name, null) := sprintf("container %s has no memory limit", [name])

message(name, limit) := sprintf("container %s: the memory limit %v limits nothing", [name, limit]) if limit != null
