# METADATA
# scope: package
# title: Bindings name a role that exists
# description: |
#   A binding to a role that does not exist grants nothing today, and everything that somebody later puts into a role of that
#   name. The roles that Kubernetes installs count as existing (parameters). A Role without a namespace may land in any, so it
#   counts for every binding, and so does any Role for a binding without a namespace.
# related_resources:
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#rolebinding-and-clusterrolebinding
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRoleBinding, RoleBinding]
#   not_applicable: names_no_role
#   remediation: Create the role, correct the name, or delete the binding.
#   fix: |
#     roleRef:
#       apiGroup: rbac.authorization.k8s.io
#       kind: ClusterRole
#       name: view
#   context:
#   - group: rbac.authorization.k8s.io
#     kinds: [Role, ClusterRole]
package rbac.binding_role_exists

import data.lib.rbac

default applies := false

applies if {
	rbac.role_ref.kind in {"Role", "ClusterRole"}
	rbac.role_ref.name != ""
}

violations contains violation if {
	applies
	not exists
	violation := {
		"path": ["roleRef", "name"],
		"message": sprintf("%s %s does not exist%s", [rbac.role_ref.kind, rbac.role_ref.name, place]),
		"seen": rbac.role_ref.name,
		"expected": "the name of a role that exists",
	}
}

default place := ""

place := sprintf(" in namespace %s", [rbac.namespace]) if {
	rbac.role_ref.kind == "Role"
	rbac.namespace != ""
}

default exists := false

exists if {
	rbac.role_ref.kind == "ClusterRole"
	built_in(rbac.role_ref.name, data.parameters["rbac/binding-role-exists"].built_in_cluster_roles)
}

exists if {
	rbac.role_ref.kind == "ClusterRole"
	some role in data.inventory["rbac.authorization.k8s.io/ClusterRole"][_]
	role.metadata.name == rbac.role_ref.name
}

exists if {
	rbac.role_ref.kind == "Role"
	startswith(rbac.namespace, "kube-")
	built_in(rbac.role_ref.name, data.parameters["rbac/binding-role-exists"].built_in_roles)
}

exists if {
	rbac.role_ref.kind == "Role"
	rbac.namespace != ""
	some namespace in [rbac.namespace, ""]
	some role in data.inventory["rbac.authorization.k8s.io/Role"][namespace]
	role.metadata.name == rbac.role_ref.name
}

exists if {
	rbac.role_ref.kind == "Role"
	rbac.namespace == ""
	some role in data.inventory["rbac.authorization.k8s.io/Role"][_]
	role.metadata.name == rbac.role_ref.name
}

built_in(name, names) if name in names

built_in(name, names) if {
	some entry in names
	endswith(entry, "*")
	startswith(name, trim_suffix(entry, "*"))
}
