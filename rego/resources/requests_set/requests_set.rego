# METADATA
# scope: package
# title: CPU and memory are requested
# description: |
#   Without requests the scheduler packs pods blindly and the first to starve is chance. Asked of main containers,
#   init containers and sidecars, never of ephemeral ones. A limit counts where no request is stated, as on the
#   server; so do requests or limits of the whole pod (spec.resources). A request of 0 asks for nothing, and so does
#   what is no quantity.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_container_to_judge
#   remediation: >-
#     State requests for cpu and memory, near what the program uses.
#   fix: |
#     resources:
#       requests:
#         cpu: "2"
#         memory: 8Gi
package resources.requests_set

import data.lib.workload

default applies := false

applies if count(workload.resource_containers) > 0

violations contains v if {
	some c in workload.resource_containers
	some name in ["cpu", "memory"]
	not states(c.value, name)
	not states(workload.templates[c.template].spec, name)
	v := {
		"path": array.concat(c.path, ["resources", "requests", name]),
		"message": sprintf("container %s requests no %s", [c.name, name]),
		"seen": workload.resource(c.value, "requests", name),
		"expected": "a quantity above 0",
		"container": c.name,
	}
}

states(holder, name) if workload.has_resource(holder, "requests", name)

# The server copies the limit to a request that isn't there, not to one of 0.
states(holder, name) if {
	workload.has_resource(holder, "limits", name)
	workload.resource(holder, "requests", name) == null
}
