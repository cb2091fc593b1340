# METADATA
# scope: package
# title: The pod has a service account of its own
# description: |
#   Pods that share the account "default" share every right it is ever given. Not asked of pods that mount no token.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
# custom:
#   severity: low
#   match: {pod_templates: true}
#   not_applicable: no_token_mounted
#   remediation: >-
#     Create a service account for the workload and name it in serviceAccountName.
#   fix: |
#     spec:
#       serviceAccountName: model-server
package serviceaccount.default_used

import data.lib.workload

default applies := false

applies if count(judged_templates) > 0

violations contains v if {
	some t in judged_templates
	workload.account(t) == "default"
	v := {
		"path": workload.field_path(t, "serviceAccountName"),
		"message": "the pod runs as the default service account",
		"seen": object.get(t.spec, "serviceAccountName", null),
		"expected": "an account of its own",
	}
}

judged_templates := [t |
	some t in workload.whole_templates
	t.service_account
	not t.spec.automountServiceAccountToken == false
]
