# METADATA
# scope: package
# title: Roles, one rule at a time
# description: |
#   An RBAC rule grants what it names in itself: verbs of one rule never meet the resources of another. Every function here
#   therefore looks at single rules, and every hit carries the index of its rule.
package lib.rbac

# Rules of the role under judgement, see normalised.
rules := normalised(object.get(input, "rules", []))

# A role speaks when it has a rule, and when it is not one of the roles that Kubernetes itself installs with wide rights.
speaks if {
	count(rules) > 0
	not ships_with_kubernetes(input)
}

# Rules as {index, verbs, groups, resources, names, urls, named}; lists stay lists so that positions stay true. `named` says
# that resourceNames narrows the rule: a name of "" does not, it is what list and create requests carry.
normalised(entries) := [rule |
	some index, entry in as_list(entries)
	is_object(entry)
	names := as_list(object.get(entry, "resourceNames", []))
	rule := {
		"index": index,
		"verbs": as_list(object.get(entry, "verbs", [])),
		"groups": as_list(object.get(entry, "apiGroups", [])),
		"resources": as_list(object.get(entry, "resources", [])),
		"urls": as_list(object.get(entry, "nonResourceURLs", [])),
		"names": names,
		"named": narrows(names),
	}
]

default narrows(_) := false

narrows(names) if {
	count(names) > 0
	every name in names {
		name != ""
	}
}

# A lone string is read as a list of one, which is what its author meant; anything else that is no list is empty.
default as_list(_) := []

as_list(value) := value if is_array(value)

as_list(value) := [value] if {
	is_string(value)
	value != ""
}

# True when the list has an entry in the set.
any_of(entries, wanted) if {
	some entry in entries
	entry in wanted
}

# Places where a rule grants one of the wanted verbs on one of the wanted resources: {rule, place, entry, verbs}. `wanted` is
# {verbs, groups, resources}, sets which already hold the wildcards that cover them. A resource with a subresource
# ("pods/exec") is covered by "*" and by "*/exec", but not by "pods" and not by "pods/*".
hits(role_rules, wanted) := [hit |
	some rule in role_rules
	any_of(rule.verbs, wanted.verbs)
	any_of(rule.groups, wanted.groups)
	some place, entry in rule.resources
	entry in wanted.resources
	hit := {"rule": rule, "place": place, "entry": entry, "verbs": [verb | some verb in rule.verbs; verb in wanted.verbs]}
]

# The finding for a hit: `rule N` in the message, the offending resource as the path.
violation(hit, expected) := {
	"path": ["rules", hit.rule.index, "resources", hit.place],
	"message": sprintf("rule %d grants %s on %s in API group %s", [
		hit.rule.index,
		concat(", ", hit.verbs),
		hit.entry,
		group_names(hit.rule.groups),
	]),
	"seen": {"apiGroups": hit.rule.groups, "resources": [hit.entry], "verbs": hit.verbs},
	"expected": expected,
}

# API groups for a message; the core group has no name of its own.
group_names(groups) := concat(", ", [name |
	some group in groups
	is_string(group)
	name := object.get({"": "core"}, group, group)
])

# Wildcard entries {rule, list, place} of the given list ("verbs" or "resources") in rules that grant something.
wildcards(role_rules, list) := places_of("*", role_rules, list)

places_of(wanted, role_rules, list) := [{"rule": rule, "list": list, "place": place} |
	some rule in role_rules
	grants_something(rule)
	some place, entry in rule[list]
	entry == wanted
]

# Without an API group no resource is granted, without a verb nothing is.
grants_something(rule) if {
	count(rule.verbs) > 0
	count(rule.groups) > 0
	count(rule.resources) > 0
}

grants_something(rule) if {
	count(rule.verbs) > 0
	count(rule.urls) > 0
}

# Reading any Secret. A rule narrowed by resourceNames reads only those it names.
secret_hits(role_rules) := [hit |
	some hit in hits(role_rules, {
		"verbs": {"get", "list", "watch", "*"},
		"groups": {"", "*"},
		"resources": {"secrets", "*"},
	})
	not hit.rule.named
]

# Rights that let their holder take rights it was never given. `names` are the parameters of rbac/escalation-verbs: a narrowed
# bind or impersonate counts when it names one of them, a narrowed escalate always.
escalation_hits(role_rules, names) := array.concat(
	hits(role_rules, {
		"verbs": {"escalate", "*"},
		"groups": {"rbac.authorization.k8s.io", "*"},
		"resources": {"roles", "clusterroles", "*"},
	}),
	array.concat(
		[hit |
			some hit in hits(role_rules, {
				"verbs": {"bind"},
				"groups": {"rbac.authorization.k8s.io", "*"},
				"resources": {"roles", "clusterroles", "*"},
			})
			open_or_names(hit.rule, names.powerful_roles)
		],
		[hit |
			some hit in hits(role_rules, {
				"verbs": {"impersonate", "*"},
				"groups": {"", "*"},
				"resources": {"users", "groups", "serviceaccounts", "*"},
			})
			open_or_names(hit.rule, names.powerful_identities)
		],
	),
)

open_or_names(rule, _) if not rule.named

open_or_names(rule, names) if {
	rule.named
	any_of(rule.names, names)
}

# ClusterRoles that Kubernetes installs with wide rights on purpose, as long as they hold no wildcard that they are not shipped
# with. Neither label nor name is believed alone, anyone can write both.
# Source: Kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
default ships_with_kubernetes(_) := false

ships_with_kubernetes(role) if {
	role.kind == "ClusterRole"
	role.metadata.labels["kubernetes.io/bootstrapping"] == "rbac-defaults"
	wide_by_design[role.metadata.name]
	every rule in normalised(object.get(role, "rules", [])) {
		as_shipped(role.metadata.name, rule)
	}
}

as_shipped("cluster-admin", _)

# The kubelet's own API is asked for with every verb, on subresources of nodes.
as_shipped("system:kubelet-api-admin", rule) if {
	not "*" in rule.groups
	every entry in rule.resources {
		entry in {"nodes", "nodes/proxy", "nodes/log", "nodes/metrics", "nodes/stats", "nodes/configz", "nodes/healthz", "nodes/pods"}
	}
}

as_shipped(name, rule) if {
	name != "system:kubelet-api-admin"
	count(hand_on(rule) - object.get(handed_on, name, set())) == 0
	not "*" in rule.verbs
	wildcard_as_shipped(name, rule)
}

# Verbs that let their holder take rights, and who has them.
hand_on(rule) := {verb | some verb in rule.verbs; verb in {"escalate", "bind", "impersonate"}}

handed_on := {
	"admin": {"impersonate"},
	"edit": {"impersonate"},
	"system:aggregate-to-edit": {"impersonate"},
	"system:controller:clusterrole-aggregation-controller": {"escalate"},
}

wildcard_as_shipped(_, rule) if not "*" in rule.resources

wildcard_as_shipped(name, rule) if {
	"*" in rule.resources
	every verb in rule.verbs {
		verb in object.get(every_resource, name, set())
	}
}

# Who is shipped with every resource, and for what.
every_resource := {
	"system:kube-controller-manager": {"get", "list", "watch"},
	"system:controller:generic-garbage-collector": {"get", "list", "watch", "patch", "update", "delete"},
	"system:controller:horizontal-pod-autoscaler": {"get", "list", "watch"},
	"system:controller:namespace-controller": {"get", "list", "watch", "delete", "deletecollection"},
	"system:controller:resourcequota-controller": {"list", "watch"},
}

wide_by_design contains name if {
	some name in {
		"cluster-admin",
		"admin",
		"edit",
		"system:aggregate-to-admin",
		"system:aggregate-to-edit",
		"system:kube-controller-manager",
		"system:kubelet-api-admin",
		"system:node",
	}
}

wide_by_design contains concat("", ["system:controller:", name]) if some name in controllers

controllers := {
	"attachdetach-controller",
	"certificate-controller",
	"clusterrole-aggregation-controller",
	"cronjob-controller",
	"daemon-set-controller",
	"deployment-controller",
	"device-taint-eviction-controller",
	"disruption-controller",
	"endpoint-controller",
	"endpointslice-controller",
	"endpointslicemirroring-controller",
	"ephemeral-volume-controller",
	"expand-controller",
	"generic-garbage-collector",
	"horizontal-pod-autoscaler",
	"job-controller",
	"legacy-service-account-token-cleaner",
	"namespace-controller",
	"node-controller",
	"persistent-volume-binder",
	"pod-garbage-collector",
	"pv-protection-controller",
	"pvc-protection-controller",
	"replicaset-controller",
	"replication-controller",
	"resource-claim-controller",
	"resourcequota-controller",
	"root-ca-cert-publisher",
	"route-controller",
	"selinux-warning-controller",
	"service-account-controller",
	"service-cidrs-controller",
	"service-controller",
	"statefulset-controller",
	"ttl-after-finished-controller",
	"ttl-controller",
	"validatingadmissionpolicy-status-controller",
	"volumeattributesclass-protection-controller",
}

# What a rule is about, for a message.
targets(rule) := sprintf("%s in API group %s", [shown(rule.resources), group_names(rule.groups)]) if count(rule.resources) > 0

targets(rule) := shown(rule.urls) if count(rule.resources) == 0

shown(entries) := concat(", ", [entry | some entry in entries; is_string(entry)])

# Namespace of the binding under judgement, "" when unset.
namespace := text(object.get(input, ["metadata", "namespace"], ""))

role_ref := {
	"kind": text(object.get(input, ["roleRef", "kind"], "")),
	"name": text(object.get(input, ["roleRef", "name"], "")),
}

# Subjects of the binding under judgement: {index, kind, name, namespace}. A service account without a namespace is one of the
# binding's namespace, and one that is written as a user is a service account all the same.
subjects := [subject |
	some index, entry in as_list(object.get(input, "subjects", []))
	is_object(entry)
	account := service_account(
		text(object.get(entry, "kind", "")),
		text(object.get(entry, "name", "")),
		text(object.get(entry, "namespace", "")),
	)
	subject := object.union(account, {"index": index})
]

service_account("ServiceAccount", name, own) := {"kind": "ServiceAccount", "name": name, "namespace": own} if own != ""

service_account("ServiceAccount", name, "") := {"kind": "ServiceAccount", "name": name, "namespace": namespace}

service_account("User", name, _) := {"kind": "ServiceAccount", "name": parts[3], "namespace": parts[2]} if {
	parts := account_parts(name)
	count(parts) == 4
}

service_account("User", name, _) := {"kind": "User", "name": name, "namespace": ""} if count(account_parts(name)) != 4

service_account(kind, name, _) := {"kind": kind, "name": name, "namespace": ""} if not kind in {"ServiceAccount", "User"}

account_parts(name) := split(name, ":") if startswith(name, "system:serviceaccount:")

account_parts(name) := [] if not startswith(name, "system:serviceaccount:")

subject_name(subject) := sprintf("%s %s", [subject.kind, subject.name]) if subject.kind != "ServiceAccount"

subject_name(subject) := sprintf("ServiceAccount %s", [trim_left(concat("/", [subject.namespace, subject.name]), "/")]) if {
	subject.kind == "ServiceAccount"
}

# A string, or "" for anything else.
default text(_) := ""

text(value) := value if is_string(value)
