# METADATA
# scope: package
# title: Roles do not change admission control
# description: |
#   Whoever writes admission webhook configurations or admission policies can read every object that is created, Secrets
#   included, change it on its way, or switch off the policies of the cluster. Rules narrowed by resourceNames, as certificate
#   injectors use them, pass.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#control-admission-webhooks
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: Keep these verbs for the cluster's administrators, and narrow a controller to its own configuration by resourceNames.
#   fix: |
#     rules:
#     - apiGroups: [admissionregistration.k8s.io]
#       resources: [validatingwebhookconfigurations]
#       resourceNames: [my-webhook]
#       verbs: [get, patch]
package rbac.webhook_configuration_write

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "no write access, or one narrowed by resourceNames") if {
	applies
	some hit in rbac.hits(rbac.rules, {
		"verbs": {"create", "update", "patch", "delete", "deletecollection", "*"},
		"groups": {"admissionregistration.k8s.io", "*"},
		"resources": {
			"mutatingwebhookconfigurations",
			"validatingwebhookconfigurations",
			"mutatingadmissionpolicies",
			"mutatingadmissionpolicybindings",
			"validatingadmissionpolicies",
			"validatingadmissionpolicybindings",
			"*",
		},
	})
	not hit.rule.named
}
