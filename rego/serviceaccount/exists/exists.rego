# METADATA
# scope: package
# title: The named service account exists
# description: |
#   A pod whose service account is missing is never created, and whoever may create accounts can take the name. The
#   account "default" exists in every namespace and is not looked for.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_account_named
#   context:
#     - {group: "", kinds: [ServiceAccount], fields: []}
#   remediation: >-
#     Ship the ServiceAccount with the workload, in the same namespace.
#   fix: |
#     apiVersion: v1
#     kind: ServiceAccount
#     metadata: {name: model-server, namespace: team-a}
#     automountServiceAccountToken: false
package serviceaccount.exists

import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(naming_templates) > 0

violations contains v if {
	some t in naming_templates
	name := workload.account(t)
	not known[name]
	v := {
		"path": workload.field_path(t, "serviceAccountName"),
		"message": sprintf("service account %s is not among the objects of its namespace", [name]),
		"seen": name,
		"expected": "the name of a ServiceAccount",
	}
}

naming_templates := [t |
	some t in workload.templates
	workload.account(t) != "default"
]

known := {account.metadata.name |
	some ns in obj.namespaces
	some account in data.inventory.ServiceAccount[ns]
}
