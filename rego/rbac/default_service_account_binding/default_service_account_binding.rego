# METADATA
# scope: package
# title: No role is bound to a default service account
# description: |
#   Every pod that names no service account runs as the namespace's account "default". A role bound to it is held by all of
#   them, also by those that are added later.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# - ref: https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRoleBinding, RoleBinding]
#   not_applicable: no_subjects
#   remediation: Create a service account for the workload that needs the role, bind the role to it and name it in the pod template.
#   fix: |
#     subjects:
#     - kind: ServiceAccount
#       name: trainer
#       namespace: research
package rbac.default_service_account_binding

import data.lib.rbac

default applies := false

applies if count(rbac.subjects) > 0

violations contains violation if {
	applies
	some subject in rbac.subjects
	subject.kind == "ServiceAccount"
	subject.name == "default"
	violation := {
		"path": ["subjects", subject.index],
		"message": sprintf("%s is granted %s", [rbac.subject_name(subject), rbac.role_ref.name]),
		"seen": rbac.subject_name(subject),
		"expected": "a service account of the workload's own",
	}
}
