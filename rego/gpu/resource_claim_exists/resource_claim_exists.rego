# METADATA
# scope: package
# title: Resource claims of a pod exist
# description: |
#   With dynamic resource allocation a pod names a ResourceClaim, or a ResourceClaimTemplate of which one is made per pod, in
#   its own namespace. A pod that names one that is not there waits for ever. A container may only use claims that its pod
#   lists.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_resource_claims
#   remediation: Create the claim or the template in the pod's namespace, or correct the name.
#   fix: |
#     spec:
#       resourceClaims:
#       - name: gpu
#         resourceClaimTemplateName: one-gpu
#   context:
#   - group: resource.k8s.io
#     kinds: [ResourceClaim, ResourceClaimTemplate]
package gpu.resource_claim_exists

import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(references) + count(uses) > 0

# Claims that pods list: {path, kind, name}. The alpha API nested the two names under source.
references := [{"path": array.concat(place, array.concat(["resourceClaims", index], path)), "kind": kind, "name": name} |
	some template in workload.templates
	some index, claim in template.spec.resourceClaims
	place := template.spec_path
	some kind, paths in {
		"ResourceClaim": [["resourceClaimName"], ["source", "resourceClaimName"]],
		"ResourceClaimTemplate": [["resourceClaimTemplateName"], ["source", "resourceClaimTemplateName"]],
	}
	some path in paths
	name := obj.text(claim, path)
	name != ""
]

# Claims that containers use: {container, path, name, listed}.
uses := [{"container": container.name, "path": path, "name": name, "listed": listed} |
	some container in workload.containers
	some index, claim in container.value.resources.claims
	name := obj.text(claim, ["name"])
	path := array.concat(container.path, ["resources", "claims", index, "name"])
	not workload.templates[container.template].partial
	listed := {obj.text(entry, ["name"]) | some entry in obj.list(workload.templates[container.template].spec, ["resourceClaims"])}
]

violations contains violation if {
	applies
	some reference in references
	not exists(reference)
	violation := {
		"path": reference.path,
		"message": sprintf("%s %s does not exist in the namespace", [reference.kind, reference.name]),
		"seen": reference.name,
		"expected": sprintf("the name of a %s", [reference.kind]),
	}
}

violations contains violation if {
	applies
	some use in uses
	not use.name in use.listed
	violation := {
		"path": use.path,
		"message": sprintf("uses the claim %s, which the pod does not list", [use.name]),
		"seen": use.name,
		"expected": "a name under the pod's resourceClaims",
		"container": use.container,
	}
}

default exists(_) := false

exists(reference) if {
	some item in obj.in_namespace(concat("/", ["resource.k8s.io", reference.kind]), obj.namespace)
	item.metadata.name == reference.name
}
