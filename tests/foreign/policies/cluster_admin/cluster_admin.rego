# A policy as teams have them: it means well and is wrong in four ways. It is run as it stands, and never mended.
package kubernetes.admission

default allow = false

allow {
	input.request.kind.kind == "RoleBinding"
	input.request.object.roleRef.name == "cluster-admin"
	subject := input.request.object.subjects[_]
	subject.kind == "User"
	not input.request.object.namespace == "kube-system"
}
