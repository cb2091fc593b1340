# METADATA
# scope: package
# title: Each cluster has admission policies that refuse
# description: |
#   Something must check objects before they are stored, and refuse some of them: a ClusterPolicy, ValidatingPolicy or
#   ImageValidatingPolicy of Kyverno, a constraint of Gatekeeper together with its template, or a ValidatingAdmissionPolicy
#   together with its binding. What has no rules, only mutates or generates, or only audits, warns or runs dry refuses nothing
#   and does not count. Policies of single namespaces do not count for the cluster. Pod Security labels do not count either,
#   they say nothing about images, sources or GPUs.
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
#     fields:
#     - spec.admission
#     - spec.validationFailureAction
#     - spec.validationFailureActionOverrides
#     - spec.rules.validate
#     - spec.rules.verifyImages
#   - group: policies.kyverno.io
#     kinds: [ValidatingPolicy, ImageValidatingPolicy]
#     fields: [spec.validations, spec.validationActions, spec.evaluation]
#   - group: admissionregistration.k8s.io
#     kinds: [ValidatingAdmissionPolicy]
#     fields: [spec.validations]
#   - group: admissionregistration.k8s.io
#     kinds: [ValidatingAdmissionPolicyBinding]
#     fields: [spec.policyName, spec.validationActions]
#   - group: templates.gatekeeper.sh
#     kinds: [ConstraintTemplate]
#     fields: [spec.crd.spec.names.kind, spec.targets.target]
#   - group: constraints.gatekeeper.sh
#     kinds: ["*"]
#     fields: [spec.enforcementAction, spec.scopedEnforcementActions]
package policy.admission_present

import data.lib.admission
import data.lib.object as obj

default applies := false

applies if input.kind == "Cluster"

violations contains violation if {
	applies
	not refused
	violation := {
		"path": ["metadata", "name"],
		"message": message(count(policies)),
		"seen": seen,
		"expected": "a policy of Kyverno, Gatekeeper or the API server that refuses",
	}
}

default refused := false

refused if {
	some policy in obj.everywhere("kyverno.io/ClusterPolicy")
	admission.cluster_policy_refuses(policy)
}

refused if {
	some kind in ["ValidatingPolicy", "ImageValidatingPolicy"]
	some policy in obj.everywhere(concat("/", ["policies.kyverno.io", kind]))
	admission.validating_policy_refuses(policy)
}

refused if {
	some binding in obj.everywhere("admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding")
	admission.binding_refuses(binding, obj.everywhere("admissionregistration.k8s.io/ValidatingAdmissionPolicy"))
}

refused if {
	some constraint in obj.everywhere("constraints.gatekeeper.sh/*")
	admission.constraint_refuses(constraint, obj.everywhere("templates.gatekeeper.sh/ConstraintTemplate"))
}

# What was found, whether it refuses or not.
policies := [sprintf("%s %s", [obj.text(policy, ["kind"]), obj.text(policy, ["metadata", "name"])]) |
	some kind in kinds
	some policy in obj.everywhere(kind)
]

kinds := [
	"kyverno.io/ClusterPolicy",
	"policies.kyverno.io/ValidatingPolicy",
	"policies.kyverno.io/ImageValidatingPolicy",
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy",
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
	"templates.gatekeeper.sh/ConstraintTemplate",
	"constraints.gatekeeper.sh/*",
]

default seen := null

seen := array.slice(policies, 0, 10) if count(policies) > 0

message(0) := "no admission policy was found on the cluster"

message(1) := "the only admission policy of the cluster refuses nothing"

message(number) := sprintf("none of %d admission policies of the cluster refuses anything", [number]) if number > 1
