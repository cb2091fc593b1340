# METADATA
# scope: package
# title: Roles do not read every Secret
# description: |
#   get, list or watch on Secrets without resourceNames gives away every credential in reach of the role, tokens of other
#   service accounts included. list and watch return the values, not only the names. Each rule is judged by itself, and a
#   wildcard counts only in the core API group.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#listing-secrets
# - ref: https://kubernetes.io/docs/concepts/security/secrets-good-practices/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: Grant get on the Secrets that are needed, by resourceNames, or mount them instead of reading them.
#   fix: |
#     rules:
#     - apiGroups: [""]
#       resources: [secrets]
#       resourceNames: [model-registry-pull]
#       verbs: [get]
package rbac.secrets_access

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "get on Secrets named by resourceNames, or no access") if {
	applies
	some hit in rbac.secret_hits(rbac.rules)
}
