# METADATA
# scope: package
# title: Pods with GPUs have guaranteed CPU and memory
# description: |
#   When requests equal limits for CPU and memory in every container, the pod is of QoS class Guaranteed: it is
#   evicted last and can be aligned with its GPU by the topology manager. A best-effort neighbour must not take down
#   an expensive training run. Asked of templates whose containers name an accelerator; devices from resource claims
#   are not looked at. A missing request means the limit; resources of the whole pod, where stated, decide instead
#   of the containers'. Zero does not count, as on the server.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_accelerator_requested
#   remediation: >-
#     Set cpu and memory limits in every container, init containers and sidecars included, and requests equal to
#     them.
#   fix: |
#     resources:
#       requests: {cpu: "16", memory: 128Gi, nvidia.com/gpu: 1}
#       limits: {cpu: "16", memory: 128Gi, nvidia.com/gpu: 1}
package resources.gpu_pod_guaranteed_qos

import data.lib.gpu
import data.lib.quantity
import data.lib.workload

default applies := false

applies if count(gpu_templates) > 0

violations contains v if {
	some index in gpu_templates
	t := workload.templates[index]
	workload.empty[object.get(t.spec, "resources", null)]
	some c in workload.resource_containers
	c.template == index
	some name in ["cpu", "memory"]
	not stated_equally(c.value, name)
	v := {
		"path": array.concat(c.path, ["resources", "limits", name]),
		"message": sprintf("container %s: %s request and limit are not stated and equal", [c.name, name]),
		"seen": object.get(c.value, ["resources", "limits", name], null),
		"expected": object.get(c.value, ["resources", "requests", name], "a limit equal to the request"),
		"container": c.name,
	}
}

violations contains v if {
	some index in gpu_templates
	t := workload.templates[index]
	not workload.empty[object.get(t.spec, "resources", null)]
	some name in ["cpu", "memory"]
	not stated_equally(t.spec, name)
	v := {
		"path": array.concat(workload.field_path(t, "resources"), ["limits", name]),
		"message": sprintf("the pod: %s request and limit are not stated and equal", [name]),
		"seen": object.get(t.spec, ["resources", "limits", name], null),
		"expected": object.get(t.spec, ["resources", "requests", name], "a limit equal to the request"),
	}
}

# Indexes of the templates that ask for an accelerator.
gpu_templates := {claim.container.template |
	some claim in gpu.claims
	not claim.container.partial
	gpu.amount(claim) > 0
}

stated_equally(holder, name) if {
	workload.has_resource(holder, "limits", name)
	workload.resource(holder, "requests", name) == null
}

stated_equally(holder, name) if {
	workload.has_resource(holder, "limits", name)
	quantity.same(holder.resources.requests[name], holder.resources.limits[name])
}
