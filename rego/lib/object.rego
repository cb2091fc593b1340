# METADATA
# title: Safe reading of objects, label selectors and the inventory
# description: |
#   Null, missing and empty mean the same. A function of a missing input field is undefined in Rego, and so is its
#   negation; read through these instead.
package lib.object

# The value at a path of keys, or the default when anything on the way is missing, null or no mapping.
get(value, path, fallback) := found if {
	is_object(value)
	found := object.get(value, path, null)
	found != null
} else := fallback

# The same for one kind of value: a wrong type counts as missing.
mapping(value, path) := found if {
	found := get(value, path, null)
	is_object(found)
} else := {}

list(value, path) := found if {
	found := get(value, path, null)
	is_array(found)
} else := []

text(value, path) := found if {
	found := get(value, path, null)
	is_string(found)
} else := ""

# Null, "", [] and {}.
absent(value) if {
	empty[value]
} else := false

empty := {null, "", [], {}}

name := text(input, ["metadata", "name"])

namespace := text(input, ["metadata", "namespace"])

labels := mapping(input, ["metadata", "labels"])

annotations := mapping(input, ["metadata", "annotations"])

# ---- label selectors

# Does a metav1.LabelSelector choose these labels? {} chooses everything, null and missing nothing (pass null for missing).
selects(selector, object_labels) if {
	is_object(selector)
	every key, value in mapping(selector, ["matchLabels"]) {
		object_labels[key] == value
	}
	every requirement in list(selector, ["matchExpressions"]) {
		meets(requirement.operator, object.get(requirement, "values", []), requirement.key, object_labels)
	}
} else := false

meets("In", values, key, object_labels) if object_labels[key] in values

meets("NotIn", _, key, object_labels) if not has(object_labels, key)

meets("NotIn", values, key, object_labels) if {
	has(object_labels, key)
	not object_labels[key] in values
}

meets("Exists", _, key, object_labels) if has(object_labels, key)

meets("DoesNotExist", _, key, object_labels) if not has(object_labels, key)

has(object_labels, key) if {
	some name, _ in object_labels
	name == key
}

# ---- the inventory (context rules)

# Objects of a kind in one namespace. Manifests that name no namespace land in default, so the two are read together.
in_namespace(kind_key, ns) := array.concat(bucket(kind_key, ""), bucket(kind_key, "default")) if {
	unnamed[ns]
} else := bucket(kind_key, ns)

bucket(kind_key, ns) := found if {
	found := data.inventory[kind_key][ns]
	is_array(found)
} else := []

unnamed := {"", "default"}

# Keys of the inventory under which the namespace of this object is found.
namespaces := ["", "default"] if {
	unnamed[namespace]
} else := [namespace]

# Objects of a kind in every namespace.
everywhere(kind_key) := [item |
	some found in data.inventory[kind_key]
	some item in found
]
