# METADATA
# scope: package
# title: Aggregated roles take in nothing dangerous
# description: |
#   A ClusterRole with an aggregationRule holds the rules of every ClusterRole whose labels it selects, also of those that
#   somebody installs later, and of what those take in. Its own text shows none of this. What it takes in is asked the same
#   questions as any role: wildcards, reading every Secret, escalation. A ClusterRole that adds itself to the built-in view
#   role is judged too, because everybody bound to view receives its rules.
# related_resources:
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [ClusterRole]
#   not_applicable: not_aggregated
#   remediation: |
#     Narrow the selector to labels that only reviewed roles carry, or remove the label from the role that brings in the rights.
#   fix: |
#     aggregationRule:
#       clusterRoleSelectors:
#       - matchLabels:
#           example.com/aggregate-to-model-viewer: "true"
#   context:
#   - group: rbac.authorization.k8s.io
#     kinds: [ClusterRole]
#     fields: [rules, aggregationRule]
package rbac.aggregated_roles

import data.lib.object as obj
import data.lib.rbac

default applies := false

applies if {
	count(selectors(input)) > 0
	not rbac.ships_with_kubernetes(input)
}

applies if joins_view

joins_view if {
	obj.labels["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
	obj.name != "system:aggregate-to-view"
}

# What is taken in, source by source.
violations contains violation if {
	applies
	some source in sources
	some found in dangers(rbac.normalised(object.get(source, "rules", [])))
	violation := {
		"path": ["aggregationRule", "clusterRoleSelectors"],
		"message": sprintf("takes in ClusterRole %s, whose %s", [source.metadata.name, found]),
		"seen": source.metadata.name,
		"expected": "only roles without wildcards, access to every Secret, or escalation verbs",
	}
}

violations contains violation if {
	joins_view
	some found in dangers(rbac.rules)
	violation := {
		"path": ["metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-view"],
		"message": sprintf("adds to the built-in role view: %s", [found]),
		"seen": "true",
		"expected": "no wildcards, no access to every Secret and no escalation verbs in view",
	}
}

dangers(rules) := array.concat(
	[sprintf("rule %d grants the wildcard in %s", [hit.rule.index, hit.list]) |
		some list in ["verbs", "resources"]
		some hit in rbac.wildcards(rules, list)
	],
	[sprintf("rule %d grants %s on %s", [hit.rule.index, concat(", ", hit.verbs), hit.entry]) |
		some hit in array.concat(
			rbac.secret_hits(rules),
			rbac.escalation_hits(rules, data.parameters["rbac/escalation-verbs"]),
		)
	],
)

# Roles that the subject takes in, at any depth: the controller copies rules until nothing changes. Itself is left out.
sources := [role |
	taken := {name | some aggregate in graph.reachable(takes_in, {obj.name}); some name in takes_in[aggregate]}
	some role in roles
	role.metadata.name in taken
	role.metadata.name != obj.name
]

takes_in := {name: chosen |
	some name in {aggregate.metadata.name | some aggregate in aggregates; is_string(aggregate.metadata.name)}
	chosen := [role.metadata.name |
		some aggregate in aggregates
		aggregate.metadata.name == name
		some role in roles
		chooses(aggregate, role)
	]
}

chooses(aggregate, role) if {
	some selector in selectors(aggregate)
	obj.selects(selector, obj.mapping(role, ["metadata", "labels"]))
}

aggregates := [role | some role in array.concat([input], roles); count(selectors(role)) > 0]

roles := obj.everywhere("rbac.authorization.k8s.io/ClusterRole")

selectors(role) := obj.list(role, ["aggregationRule", "clusterRoleSelectors"])
