# METADATA
# scope: package
# title: No token of the Kubernetes API is mounted unasked
# description: |
#   A pod gets a token of its service account unless automountServiceAccountToken is false, and whoever takes over
#   the program has that token. The pod's own value wins; when it has none, the service account's counts, if it is
#   among the objects read. A pod that needs the API may mount a projected token with an audience and an expiry
#   instead.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#opt-out-of-api-credential-automounting
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   context:
#     - {group: "", kinds: [ServiceAccount], fields: [automountServiceAccountToken]}
#   remediation: >-
#     Set automountServiceAccountToken: false in the pod spec or the service account; where the API is needed, say
#     so with a waiver or mount a projected token.
#   fix: |
#     spec:
#       automountServiceAccountToken: false
package serviceaccount.token_automount

import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(mounting_templates) > 0

violations contains v if {
	some t in mounting_templates
	not t.spec.automountServiceAccountToken == false
	value := object.get(t.spec, "automountServiceAccountToken", null)
	not switched_off_by_account(t, value)
	v := {
		"path": workload.field_path(t, "automountServiceAccountToken"),
		"message": message(value),
		"seen": value,
		"expected": false,
	}
}

# Templates that decide about the token themselves.
mounting_templates := [t |
	some t in workload.whole_templates
	t.service_account
]

switched_off_by_account(t, value) if {
	workload.empty[value]
	name := workload.account(t)
	some ns in obj.namespaces
	some account in data.inventory.ServiceAccount[ns]
	account.metadata.name == name
	account.automountServiceAccountToken == false
}

message(value) := "the pod mounts a token of the Kubernetes API by default" if workload.empty[value]

message(value) := "the pod mounts a token of the Kubernetes API" if not workload.empty[value]
