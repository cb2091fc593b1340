# METADATA
# scope: package
# title: Roles name the verbs they grant
# description: |
#   The verb "*" grants everything that the API can do with the named resources now and later, including verbs such as
#   escalate, bind and impersonate that are never meant by accident.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: List the verbs that the holder of the role really uses, one rule per group of resources.
#   fix: |
#     rules:
#     - apiGroups: [""]
#       resources: [pods]
#       verbs: [get, list, watch]
package rbac.wildcard_verbs

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains violation if {
	applies
	some hit in rbac.wildcards(rbac.rules, "verbs")
	violation := {
		"path": ["rules", hit.rule.index, "verbs", hit.place],
		"message": sprintf("rule %d grants every verb on %s", [hit.rule.index, rbac.targets(hit.rule)]),
		"seen": "*",
		"expected": "the verbs in use, by name",
	}
}
