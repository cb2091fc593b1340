# METADATA
# scope: package
# title: Roles do not issue tokens of service accounts
# description: |
#   create on serviceaccounts/token makes a valid token for any service account in reach of the role, and so gives all the
#   rights that these accounts hold together.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#token-request
# - ref: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: Name the service accounts whose tokens are needed with resourceNames, or remove the rule.
#   fix: |
#     rules:
#     - apiGroups: [""]
#       resources: [serviceaccounts/token]
#       resourceNames: [trainer]
#       verbs: [create]
package rbac.token_request

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "create narrowed by resourceNames, or no access") if {
	applies
	some hit in rbac.hits(rbac.rules, {
		"verbs": {"create", "*"},
		"groups": {"", "*"},
		"resources": {"serviceaccounts/token", "*/token", "*"},
	})
	not hit.rule.named
}
