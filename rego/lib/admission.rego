# METADATA
# scope: package
# title: What admission policies refuse
# description: |
#   Reads policies of Kyverno, ValidatingAdmissionPolicies and constraints of Gatekeeper, whether they are the input or come from
#   the inventory. A policy refuses when it checks something and its action is to refuse; one that only audits, warns, mutates or
#   generates lets everything through.
package lib.admission

import data.lib.object as obj

# ---- Kyverno's ClusterPolicy and Policy

# Rules that can refuse something: {"path", "value", "rule", "action"}, the action as it counts where nothing overrides it.
checks(policy) := [check |
	some index, entry in obj.list(policy, ["spec", "rules"])
	some part in parts(entry)
	check := {
		"path": array.concat(["spec", "rules", index], part.path),
		"value": part.value,
		"rule": obj.text(entry, ["name"]),
		"action": action(policy, part.value),
	}
]

# validate, and each entry of verifyImages, carry an action of their own. One that holds nothing but settings checks nothing.
parts(entry) := array.concat(
	[{"path": ["validate"], "value": value} |
		value := obj.mapping(entry, ["validate"])
		some field, content in value
		content != null
		not field in settings
	],
	[{"path": ["verifyImages", index], "value": value} |
		some index, value in obj.list(entry, ["verifyImages"])
		is_object(value)
	],
)

settings := {"message", "failureAction", "failureActionOverrides", "allowExistingViolations"}

# The rule's own action, else the policy's, else Kyverno's default.
action(policy, value) := own if {
	own := obj.text(value, ["failureAction"])
	own != ""
} else := found if {
	found := obj.text(policy, ["spec", "validationFailureAction"])
	found != ""
} else := "Audit"

# A ClusterPolicy that refuses in every namespace, or wherever no override says otherwise.
cluster_policy_refuses(policy) if {
	obj.get(policy, ["spec", "admission"], true) != false
	some check in checks(policy)
	lower(everywhere(policy, check)) == "enforce"
} else := false

# The action in namespaces that no override names; one that names all of them decides.
everywhere(policy, check) := overrides[0] if {
	overrides := [obj.text(override, ["action"]) |
		some override in array.concat(
			obj.list(check.value, ["failureActionOverrides"]),
			obj.list(policy, ["spec", "validationFailureActionOverrides"]),
		)
		"*" in obj.list(override, ["namespaces"])
	]
	count(overrides) > 0
} else := check.action

# ---- policies of policies.kyverno.io, ValidatingAdmissionPolicies and their bindings

# Conditions that an object must meet; "true" is met by all, and so is a literal that equals itself.
conditions(policy) := [condition |
	some condition in obj.list(policy, ["spec", "validations"])
	expression := trim(obj.text(condition, ["expression"]), " \t\r\n()")
	not expression in {"", "true", "!false"}
	not compares_itself(expression)
]

compares_itself(expression) if {
	[left, right] := split(expression, "==")
	trim_space(left) == trim_space(right)
	regex.match(`^(true|false|null|-?[0-9.]+|"[^"\\]*"|'[^'\\]*')$`, trim_space(left))
}

# A ValidatingPolicy or ImageValidatingPolicy denies when it names no action.
validating_policy_refuses(policy) if {
	count(conditions(policy)) > 0
	obj.text(policy, ["spec", "evaluation", "mode"]) in {"", "Kubernetes"}
	obj.get(policy, ["spec", "evaluation", "admission", "enabled"], true) != false
	denying(obj.list(policy, ["spec", "validationActions"]))
} else := false

denying([])

denying(actions) if "Deny" in actions

# A binding denies only when it says so, and only by a policy that is there and has conditions. `policies` are all of them.
binding_refuses(binding, policies) if {
	"Deny" in obj.list(binding, ["spec", "validationActions"])
	some policy in policies
	obj.text(policy, ["metadata", "name"]) == obj.text(binding, ["spec", "policyName"])
	count(conditions(policy)) > 0
} else := false

# ---- constraints of Gatekeeper

# A constraint denies when it names no action, as long as the template that makes its kind is there. `templates` are all of them.
constraint_refuses(constraint, templates) if {
	denies(constraint)
	some template in templates
	obj.text(template, ["spec", "crd", "spec", "names", "kind"]) == constraint.kind
	count(obj.list(template, ["spec", "targets"])) > 0
} else := false

denies(constraint) if obj.text(constraint, ["spec", "enforcementAction"]) in {"", "deny"}

denies(constraint) if {
	obj.text(constraint, ["spec", "enforcementAction"]) == "scoped"
	some scope in obj.list(constraint, ["spec", "scopedEnforcementActions"])
	obj.text(scope, ["action"]) == "deny"
	some point in obj.list(scope, ["enforcementPoints"])
	obj.text(point, ["name"]) in {"*", "validation.gatekeeper.sh"}
}
