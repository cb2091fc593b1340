# METADATA
# scope: package
# title: Roles do not let their holder take more rights
# description: |
#   Whoever may escalate roles, bind roles, or impersonate users, groups or service accounts can take rights that were never
#   given. The verbs mean this on those resources only. A bind or impersonate narrowed by resourceNames counts when it names
#   a powerful role or identity, see the parameters.
# related_resources:
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
# custom:
#   severity: critical
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: |
#     Remove escalate, bind and impersonate from the rule. Where a controller must bind one role, name that role with
#     resourceNames.
#   fix: |
#     rules:
#     - apiGroups: [rbac.authorization.k8s.io]
#       resources: [clusterroles]
#       resourceNames: [view]
#       verbs: [bind]
package rbac.escalation_verbs

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "no escalate, bind or impersonate") if {
	applies
	some hit in rbac.escalation_hits(rbac.rules, data.parameters["rbac/escalation-verbs"])
}
