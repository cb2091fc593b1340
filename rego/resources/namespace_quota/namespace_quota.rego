# METADATA
# scope: package
# title: Every namespace has a quota for CPU and memory
# description: |
#   Without a ResourceQuota one tenant can take the whole cluster. Counts quotas without scopes that bound cpu and
#   memory, by request or limit, with a quantity; a quota on object counts alone does not. Asked of every namespace that is declared
#   or used, the control plane's own excepted (parameter).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
# custom:
#   severity: medium
#   match: {kinds: [{group: "", kinds: [Namespace]}], derived: true}
#   not_applicable: exempt_namespace
#   context:
#     - {group: "", kinds: [ResourceQuota], fields: [spec.hard, spec.scopes, spec.scopeSelector]}
#   remediation: >-
#     Create a ResourceQuota with requests or limits for cpu and memory; on GPU namespaces bound the GPUs as well.
#   fix: |
#     apiVersion: v1
#     kind: ResourceQuota
#     metadata: {name: compute, namespace: team-a}
#     spec:
#       hard: {requests.cpu: "64", requests.memory: 512Gi}
package resources.namespace_quota

import data.lib.object as obj
import data.lib.quantity

default applies := false

applies if not obj.name in data.parameters["resources/namespace-quota"].exempt_namespaces

violations contains v if {
	some name in ["cpu", "memory"]
	not bounded(name)
	v := {
		"path": ["metadata", "name"],
		"message": sprintf("no quota bounds %s in namespace %s", [name, obj.name]),
		"seen": null,
		"expected": sprintf("a ResourceQuota with requests.%s or limits.%s", [name, name]),
	}
}

bounded(name) if {
	some quota in quotas
	some key in keys[name]
	quantity.stated(quota.spec.hard[key])
}

quotas := [quota |
	some quota in obj.in_namespace("ResourceQuota", obj.name)
	obj.list(quota, ["spec", "scopes"]) == []
	obj.mapping(quota, ["spec", "scopeSelector"]) == {}
]

keys := {
	"cpu": ["requests.cpu", "limits.cpu", "cpu"],
	"memory": ["requests.memory", "limits.memory", "memory"],
}
