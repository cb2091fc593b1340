# METADATA
# scope: package
# title: No role is bound to a group that anyone belongs to
# description: |
#   system:unauthenticated and system:anonymous are everybody who reaches the API server, system:authenticated everybody with
#   any credential, system:serviceaccounts every pod. system:masters passes all authorisation and cannot be revoked by
#   RBAC. The bindings that Kubernetes installs itself (parameter allowed_roles) pass.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
# custom:
#   severity: critical
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRoleBinding, RoleBinding]
#   not_applicable: no_subjects
#   remediation: Bind the role to a named group, user or service account.
#   fix: |
#     subjects:
#     - apiGroup: rbac.authorization.k8s.io
#       kind: Group
#       name: platform-operators
package rbac.system_groups

import data.lib.rbac

default applies := false

applies if count(rbac.subjects) > 0

violations contains violation if {
	applies
	some subject in rbac.subjects
	reaches_many(subject)
	not shipped(subject)
	violation := {
		"path": ["subjects", subject.index, "name"],
		"message": sprintf("%s is granted %s", [rbac.subject_name(subject), rbac.role_ref.name]),
		"seen": subject.name,
		"expected": "a named group, user or service account",
	}
}

default reaches_many(_) := false

reaches_many(subject) if {
	subject.kind == "Group"
	subject.name in data.parameters["rbac/system-groups"].groups
}

reaches_many(subject) if {
	subject.kind == "User"
	subject.name in data.parameters["rbac/system-groups"].users
}

default shipped(_) := false

shipped(_) if {
	rbac.role_ref.kind == "ClusterRole"
	rbac.role_ref.name in data.parameters["rbac/system-groups"].allowed_roles
}

# kubeadm's role stands in kube-public; a Role of such a name elsewhere is anybody's.
shipped(_) if {
	rbac.role_ref.kind == "Role"
	rbac.namespace == "kube-public"
	rbac.role_ref.name in data.parameters["rbac/system-groups"].allowed_roles
}

shipped(subject) if {
	subject.name == "system:masters"
	input.metadata.name == "cluster-admin"
	rbac.role_ref.name == "cluster-admin"
}
