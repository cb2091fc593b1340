# METADATA
# scope: package
# title: Every namespace has defaults for its containers
# description: |
#   A LimitRange of type Container gives a request and limit to containers that state none, so that a forgotten line
#   is not a container without bounds. A default of 0 is no bound. Asked of every namespace that is declared or used, the control plane's own
#   excepted (parameter).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/limit-range/
# custom:
#   severity: low
#   match: {kinds: [{group: "", kinds: [Namespace]}], derived: true}
#   not_applicable: exempt_namespace
#   context:
#     - {group: "", kinds: [LimitRange], fields: [spec.limits]}
#   remediation: >-
#     Create a LimitRange with default and defaultRequest for containers.
#   fix: |
#     apiVersion: v1
#     kind: LimitRange
#     metadata: {name: defaults, namespace: team-a}
#     spec:
#       limits:
#         - type: Container
#           default: {cpu: "1", memory: 2Gi}
#           defaultRequest: {cpu: 250m, memory: 512Mi}
package resources.namespace_limit_range

import data.lib.object as obj
import data.lib.quantity

default applies := false

applies if not obj.name in data.parameters["resources/namespace-limit-range"].exempt_namespaces

violations contains v if {
	not has_defaults
	v := {
		"path": ["metadata", "name"],
		"message": sprintf("no limit range gives containers defaults in namespace %s", [obj.name]),
		"seen": null,
		"expected": "a LimitRange with an item of type Container and a default for memory",
	}
}

has_defaults if {
	some item in obj.in_namespace("LimitRange", obj.name)
	some limit in obj.list(item, ["spec", "limits"])
	limit.type == "Container"
	some field in ["default", "max"]
	quantity.positive(obj.get(limit, [field, "memory"], null))
}
