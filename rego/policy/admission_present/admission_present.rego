# METADATA
# scope: package
# title: Each cluster has admission policies
# description: |
#   Something must check objects before they are stored: policies of Kyverno, constraints of Gatekeeper (seen by their
#   templates), or bindings of ValidatingAdmissionPolicy. Whether they refuse or only report is the question of
#   policy/enforce-mode. Pod Security labels alone do not count, they say nothing about images, sources or GPUs.
# related_resources:
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
# - ref: https://kubernetes.io/docs/concepts/security/security-checklist/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: fleetaudit.dev
#       kinds: [Cluster]
#     derived: true
#   not_applicable: not_a_cluster
#   remediation: Install a policy engine, or bind validating admission policies, with the policies that the fleet agreed on.
#   fix: |
#     apiVersion: admissionregistration.k8s.io/v1
#     kind: ValidatingAdmissionPolicyBinding
#     metadata:
#       name: require-image-digest
#     spec:
#       policyName: require-image-digest
#       validationActions: [Deny]
#   context:
#   - group: kyverno.io
#     kinds: [ClusterPolicy]
#   - group: policies.kyverno.io
#     kinds: [ValidatingPolicy, ImageValidatingPolicy]
#   - group: admissionregistration.k8s.io
#     kinds: [ValidatingAdmissionPolicyBinding]
#   - group: templates.gatekeeper.sh
#     kinds: [ConstraintTemplate]
package policy.admission_present

import data.lib.object as obj

default applies := false

applies if input.kind == "Cluster"

kinds := [
	"kyverno.io/ClusterPolicy",
	"policies.kyverno.io/ValidatingPolicy",
	"policies.kyverno.io/ImageValidatingPolicy",
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
	"templates.gatekeeper.sh/ConstraintTemplate",
]

violations contains violation if {
	applies
	count([1 | some kind in kinds; some _ in obj.everywhere(kind)]) == 0
	violation := {
		"path": ["metadata", "name"],
		"message": "no admission policy was found on the cluster",
		"seen": null,
		"expected": concat(", ", kinds),
	}
}
