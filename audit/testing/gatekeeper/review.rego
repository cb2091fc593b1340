# METADATA
# title: One case of a suite, as gator puts it to a template
# description: |
#   Follows pkg/gator/verify and pkg/target of Gatekeeper. Objects are taken as they are written: a namespace that a file
#   leaves out stays out. A case may also be a whole AdmissionReview.
package fleetaudit_testing.gatekeeper

import data.fleetaudit_foreign.gatekeeper
import data.fleetaudit_foreign.objects

# True, false, or undefined when it cannot be told because the object's Namespace is not in the inventory.
applies := matched(subjects[0]) if {
	count(subjects) == 1
} else if {
	some subject in subjects
	matched(subject)
} else := false if {
	every subject in subjects {
		matched(subject) == false
	}
}

matched(subject) := found if found := object_matched with input as subject

object_matched := false if {
	not kind_matched
} else := found if {
	found := gatekeeper.matches(match) with data.fleetaudit_foreign.objects.namespaced as has_namespace
}

has_namespace := objects.written_namespace != ""

match := data.fleetaudit_tested.match

kind_matched if count(object.get(match, "kinds", [])) == 0

kind_matched if {
	some entry in match.kinds
	fits(entry, "kinds", objects.gvk.kind)
	fits(entry, "apiGroups", objects.gvk.group)
}

fits(entry, key, _) if count(object.get(entry, key, [])) == 0

fits(entry, key, value) if {
	some wanted in entry[key]
	wanted in {"*", value}
}

is_request if {
	input.kind == "AdmissionReview"
	startswith(input.apiVersion, "admission.k8s.io/")
}

# ---- what is judged

subjects := [input] if {
	not is_request
} else := [subject |
	some key in ["object", "oldObject"]
	subject := request[key]
	is_object(subject)
]

review := object.union(described, named) if {
	not is_request
} else := request

described := object.union(nothing, {"kind": objects.gvk, "object": input})

named := {key: value |
	some key, value in {"name": objects.name, "namespace": objects.written_namespace}
	value != ""
}

request := object.union(asked, {"object": asked.oldObject}) if {
	asked.operation == "DELETE"
} else := asked

asked := object.union(nothing, input.request)

nothing := {
	"uid": "",
	"kind": {"group": "", "version": "", "kind": ""},
	"resource": {"group": "", "version": "", "resource": ""},
	"operation": "",
	"userInfo": {},
	"object": null,
	"oldObject": null,
	"options": null,
}

# ---- what the template says of it

# Gatekeeper passes over a violation without msg in silence; here it is handed on, and the engine refuses it.
violations := {violation |
	some item in said
	violation := {"path": [], "message": item.msg, "seen": object.get(item, "details", {})}
} if {
	every item in said {
		is_string(item.msg)
	}
} else := said
