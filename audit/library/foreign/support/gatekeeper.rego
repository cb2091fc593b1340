# METADATA
# title: Gatekeeper's review, and its match blocks
# description: |
#   Follows pkg/mutation/match and pkg/target of Gatekeeper as its audit runs them. An object whose manifest leaves the
#   namespace unset is matched as Gatekeeper's own command line does: no list of namespaces shuts it out.
package fleetaudit_foreign.gatekeeper

import data.fleetaudit_foreign.objects

# As audit builds it: no user, no operation. The namespace stands in it as on a server.
review := object.union(described, named)

described := {
	"uid": "",
	"kind": objects.gvk,
	"resource": {"group": "", "version": "", "resource": ""},
	"operation": "",
	"userInfo": {},
	"object": objects.completed,
	"oldObject": null,
	"options": null,
	"namespaceObject": namespace_object,
}

named := {key: value |
	some key, value in {"name": objects.name, "namespace": objects.namespace}
	value != ""
}

default namespace_object := null

namespace_object := data.inventory.cluster.v1.Namespace[objects.namespace] if not is_namespace

is_namespace if objects.kind_key == "Namespace"

# ---- match: true, false, or undefined when it cannot be told

matches(match) := false if {
	some criterion in criteria
	misses(criterion, match)
} else := in_selected_namespace(match)

criteria := ["scope", "namespaces", "excludedNamespaces", "labelSelector", "name", "source"]

misses("scope", match) if {
	match.scope == "Cluster"
	objects.namespaced
	not is_namespace
}

misses("scope", match) if {
	match.scope == "Namespaced"
	not objects.namespaced
}

misses("scope", match) if {
	match.scope == "Namespaced"
	is_namespace
}

misses("namespaces", match) if {
	count(match.namespaces) > 0
	namespace := judged_namespace
	not listed(match.namespaces, namespace)
}

misses("excludedNamespaces", match) if listed(match.excludedNamespaces, judged_namespace)

misses("labelSelector", match) if {
	is_object(match.labelSelector)
	not selects(match.labelSelector, objects.labels)
}

misses("name", match) if {
	is_string(match.name)
	match.name != ""
	not wildcard(match.name, objects.name)
	not generates(match.name, objects.text(input, ["metadata", "generateName"]))
}

# Everything that lies in files or on a server is an original, nothing is expanded.
misses("source", match) if match.source == "Generated"

# Undefined where there is none, and nothing shuts out such an object.
judged_namespace := objects.name if {
	is_namespace
} else := objects.written_namespace if {
	objects.written_namespace != ""
}

listed(patterns, name) if {
	some pattern in patterns
	wildcard(pattern, name)
}

wildcard(pattern, name) if {
	startswith(pattern, "*")
	endswith(pattern, "*")
	contains(name, trim_suffix(trim_prefix(pattern, "*"), "*"))
} else if {
	startswith(pattern, "*")
	not endswith(pattern, "*")
	endswith(name, trim_prefix(pattern, "*"))
} else if {
	not startswith(pattern, "*")
	endswith(pattern, "*")
	startswith(name, trim_suffix(pattern, "*"))
} else if {
	pattern == name
}

generates(pattern, prefix) if {
	endswith(pattern, "*")
	wildcard(pattern, prefix)
}

in_selected_namespace(match) if {
	not is_object(object.get(match, "namespaceSelector", null))
} else := chosen(match.namespaceSelector, objects.labels) if {
	is_namespace
} else if {
	objects.written_namespace == ""
} else := chosen(match.namespaceSelector, found) if {
	namespace := data.inventory.cluster.v1.Namespace[objects.written_namespace]
	found := objects.labels_of(namespace)
}

chosen(selector, found) if {
	selects(selector, found)
} else := false

# ---- label selectors; the loader has refused malformed ones

selects(selector, found) if {
	every key, value in object.get(selector, "matchLabels", {}) {
		found[key] == value
	}
	every requirement in object.get(selector, "matchExpressions", []) {
		meets(requirement.operator, requirement.key, object.get(requirement, "values", []), found)
	}
}

meets("In", key, values, found) if found[key] in values

meets("NotIn", key, _, found) if not key in object.keys(found)

meets("NotIn", key, values, found) if {
	key in object.keys(found)
	not found[key] in values
}

meets("Exists", key, _, found) if key in object.keys(found)

meets("DoesNotExist", key, _, found) if not key in object.keys(found)
