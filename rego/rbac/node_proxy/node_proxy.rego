# METADATA
# scope: package
# title: Roles do not reach the kubelet through the node proxy
# description: |
#   nodes/proxy opens the kubelet's whole API, running commands in every pod of the node included. These requests pass neither
#   audit logging nor admission control of the API server, and get alone is enough.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#access-to-proxy-subresource-of-nodes
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: Grant the narrower nodes/metrics, nodes/stats, nodes/log or nodes/healthz instead of nodes/proxy.
#   fix: |
#     rules:
#     - apiGroups: [""]
#       resources: [nodes/metrics, nodes/stats]
#       verbs: [get]
package rbac.node_proxy

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "nodes/metrics, nodes/stats or nodes/log") if {
	applies
	some hit in rbac.hits(rbac.rules, {
		"verbs": {"get", "create", "update", "patch", "delete", "*"},
		"groups": {"", "*"},
		"resources": {"nodes/proxy", "*/proxy", "*"},
	})
	not hit.rule.named
}
