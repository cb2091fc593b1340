# METADATA
# title: Identity of the object under audit
package fleetaudit_foreign.objects

api_version := text(input, ["apiVersion"])

gvk := {"group": parts[0], "version": parts[1], "kind": text(input, ["kind"])} if {
	parts := split(api_version, "/")
	count(parts) == 2
} else := {"group": "", "version": api_version, "kind": text(input, ["kind"])}

kind_key := gvk.kind if {
	gvk.group == ""
} else := sprintf("%s/%s", [gvk.group, gvk.kind])

name := text(input, ["metadata", "name"])

written_namespace := text(input, ["metadata", "namespace"])

known := data.fleetaudit_kinds[kind_key]

default plural := ""

plural := known.plural

plural := sprintf("%ss", [lower(gvk.kind)]) if not known

default namespaced := false

# Kinds that the table does not know are taken as they are written.
namespaced if written_namespace != ""

namespaced if known.namespaced

namespace := written_namespace if {
	written_namespace != ""
} else := "default" if {
	namespaced
} else := ""

completed := input if {
	namespace == written_namespace
} else := object.union(input, {"metadata": {"namespace": namespace}})

labels := labels_of(input)

labels_of(value) := found if {
	found := object.get(value, ["metadata", "labels"], null)
	is_object(found)
} else := {}

text(value, path) := found if {
	found := object.get(value, path, null)
	is_string(found)
} else := ""
