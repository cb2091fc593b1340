# METADATA
# scope: package
# title: cluster-admin is bound to nobody outside the control plane
# description: |
#   cluster-admin can do everything: with a ClusterRoleBinding in the whole cluster, with a RoleBinding in the namespace.
#   Service accounts of the parameter allowed_namespaces (kube-system) pass, so do the group system:masters and the users
#   system:admin, system:apiserver, system:kube-controller-manager and system:kube-scheduler. No other system: name does: anybody
#   can be given one. Service accounts written as users are judged as service accounts.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#least-privilege
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles
# custom:
#   severity: critical
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRoleBinding, RoleBinding]
#   not_applicable: binds_another_role
#   remediation: Bind a role that holds only the rights in use. For people, use a group that is given for a limited time.
#   fix: |
#     roleRef:
#       apiGroup: rbac.authorization.k8s.io
#       kind: ClusterRole
#       name: view
package rbac.cluster_admin_binding

import data.lib.rbac

default applies := false

applies if {
	rbac.role_ref.name == "cluster-admin"
	rbac.role_ref.kind != "Role"
}

violations contains violation if {
	applies
	some subject in rbac.subjects
	not allowed(subject)
	violation := {
		"path": ["subjects", subject.index],
		"message": sprintf("%s holds cluster-admin", [rbac.subject_name(subject)]),
		"seen": rbac.subject_name(subject),
		"expected": "a role with only the rights in use",
	}
}

default allowed(_) := false

allowed(subject) if {
	subject.kind == "ServiceAccount"
	subject.namespace in data.parameters["rbac/cluster-admin-binding"].allowed_namespaces
}

allowed(subject) if subject.name in object.get(control_plane, subject.kind, set())

# Whom the control plane runs as, and who is asked for nothing anyway. Anybody may be given a name with the same prefix.
control_plane := {
	"User": {"system:admin", "system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"},
	"Group": {"system:masters"},
}
