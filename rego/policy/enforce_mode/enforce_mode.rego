# METADATA
# scope: package
# title: Policies refuse what they forbid
# description: |
#   A policy in audit mode reports and lets everything through. Judged are Kyverno's ClusterPolicy and Policy (rule by rule,
#   with the older validationFailureAction and the newer failureAction, and overrides for single namespaces), its policies of
#   policies.kyverno.io, and the bindings of ValidatingAdmissionPolicy. Constraints of Gatekeeper are not judged here: their
#   kinds are made by each cluster.
# related_resources:
# - ref: https://kyverno.io/docs/policy-types/cluster-policy/validate/
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: kyverno.io
#       kinds: [ClusterPolicy, Policy]
#     - group: policies.kyverno.io
#       kinds: [ValidatingPolicy, NamespacedValidatingPolicy, ImageValidatingPolicy, NamespacedImageValidatingPolicy]
#     - group: admissionregistration.k8s.io
#       kinds: [ValidatingAdmissionPolicyBinding]
#   not_applicable: validates_nothing
#   remediation: Set the action to Enforce or Deny once the policy's reports show no violation that must stay.
#   fix: |
#     spec:
#       rules:
#       - name: require-limits
#         validate:
#           failureAction: Enforce
package policy.enforce_mode

import data.lib.admission
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(checks) > 0

applies if lists_actions

classic if workload.kind_key in {"kyverno.io/ClusterPolicy", "kyverno.io/Policy"}

# Rules of a classic Kyverno policy that can refuse something.
checks := admission.checks(input) if {
	classic
} else := []

# Where the action is said, or should be.
said_at(check) := ["spec", "validationFailureAction"] if {
	obj.text(check.value, ["failureAction"]) == ""
	obj.text(input, ["spec", "validationFailureAction"]) != ""
} else := array.concat(check.path, ["failureAction"])

violations contains violation if {
	some check in checks
	lower(check.action) != "enforce"
	violation := {
		"path": said_at(check),
		"message": sprintf("rule %s only audits", [check.rule]),
		"seen": check.action,
		"expected": "Enforce",
	}
}

violations contains violation if {
	count(checks) > 0
	some override in array.concat(
		[{"path": ["spec", "validationFailureActionOverrides", index], "value": value} |
			some index, value in obj.list(input, ["spec", "validationFailureActionOverrides"])
		],
		[{"path": array.concat(check.path, ["failureActionOverrides", index]), "value": value} |
			some check in checks
			some index, value in obj.list(check.value, ["failureActionOverrides"])
		],
	)
	lower(obj.text(override.value, ["action"])) == "audit"
	violation := {
		"path": array.concat(override.path, ["action"]),
		"message": sprintf("only audits in namespaces %s", [
			concat(", ", [name | some name in obj.list(override.value, ["namespaces"]); is_string(name)]),
		]),
		"seen": obj.text(override.value, ["action"]),
		"expected": "Enforce",
	}
}

violations contains violation if {
	count(checks) > 0
	obj.get(input, ["spec", "admission"], true) == false
	violation := {
		"path": ["spec", "admission"],
		"message": "is not asked at admission",
		"seen": false,
		"expected": true,
	}
}

# Kinds with a list of actions, and what an empty list means. A policy without conditions has nothing to refuse.
lists_actions if {
	defaults[workload.kind_key]
	input.kind == "ValidatingAdmissionPolicyBinding"
}

lists_actions if {
	defaults[workload.kind_key]
	count(admission.conditions(input)) > 0
}

defaults := {
	"policies.kyverno.io/ValidatingPolicy": ["Deny"],
	"policies.kyverno.io/NamespacedValidatingPolicy": ["Deny"],
	"policies.kyverno.io/ImageValidatingPolicy": ["Deny"],
	"policies.kyverno.io/NamespacedImageValidatingPolicy": ["Deny"],
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": [],
}

actions := found if {
	found := obj.list(input, ["spec", "validationActions"])
	count(found) > 0
} else := defaults[workload.kind_key]

violations contains violation if {
	lists_actions
	not "Deny" in actions
	violation := {
		"path": ["spec", "validationActions"],
		"message": "does not deny",
		"seen": obj.get(input, ["spec", "validationActions"], null),
		"expected": ["Deny"],
	}
}

violations contains violation if {
	lists_actions
	obj.get(input, ["spec", "evaluation", "admission", "enabled"], true) == false
	violation := {
		"path": ["spec", "evaluation", "admission", "enabled"],
		"message": "is not asked at admission",
		"seen": false,
		"expected": true,
	}
}
