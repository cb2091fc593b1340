# METADATA
# scope: package
# title: No role is bound to a default service account
# description: |
#   Every pod that names no service account runs as the namespace's account "default". A role bound to it is held by all of
#   them, also by those that are added later. The group of all service accounts of a namespace holds it, too; roles that a
#   distribution binds to that group can be listed in the parameter allowed_group_roles.
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

violations contains violation if {
	applies
	some subject in rbac.subjects
	subject.kind == "Group"
	startswith(subject.name, "system:serviceaccounts:")
	not rbac.role_ref.name in data.parameters["rbac/default-service-account-binding"].allowed_group_roles
	violation := {
		"path": ["subjects", subject.index],
		"message": sprintf("every service account of namespace %s, default included, is granted %s", [
			trim_prefix(subject.name, "system:serviceaccounts:"),
			rbac.role_ref.name,
		]),
		"seen": rbac.subject_name(subject),
		"expected": "a service account of the workload's own",
	}
}
