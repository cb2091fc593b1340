# METADATA
# scope: package
# title: Roles do not run commands in pods
# description: |
#   exec, attach and ephemeral containers give a shell inside running pods, and with it their service account, their mounted
#   secrets and, in a model server, its weights and prompts. Both create and get open an exec or attach stream.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# - ref: https://kubernetes.io/docs/tasks/debug/debug-application/get-shell-running-container/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: Remove the subresource from the role and give such rights for a limited time, to people, when needed.
#   fix: |
#     rules:
#     - apiGroups: [""]
#       resources: [pods, pods/log]
#       verbs: [get, list, watch]
package rbac.pod_exec

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains rbac.violation(hit, "no access to exec, attach or ephemeral containers") if {
	applies
	some wanted in ways_in
	some hit in rbac.hits(rbac.rules, wanted)
	not hit.rule.named
}

ways_in := [
	{
		"verbs": {"create", "get", "*"},
		"groups": {"", "*"},
		"resources": {"pods/exec", "pods/attach", "*/exec", "*/attach", "*"},
	},
	{
		"verbs": {"patch", "update", "*"},
		"groups": {"", "*"},
		"resources": {"pods/ephemeralcontainers", "*/ephemeralcontainers", "*"},
	},
]
