# METADATA
# title: Many objects at once
package fleetaudit_foreign.whole

# Every collected object of these kinds, in the order of kinds, namespaces and documents.
objects(kind_keys) := [item |
	some key in kind_keys
	some found in data.inventory[key]
	some item in found
]

# The same as conftest --combine writes them; no file is known here, so the object's own place stands for it.
combined(kind_keys) := [{"path": place(item), "contents": item} | some item in objects(kind_keys)]

place(item) := concat("/", [part |
	some part in [
		object.get(item, "kind", ""),
		object.get(item, ["metadata", "namespace"], ""),
		object.get(item, ["metadata", "name"], ""),
	]
	is_string(part)
	part != ""
])
