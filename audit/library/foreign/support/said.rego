# METADATA
# title: What policies say, as violations
# description: |
#   Policies answer with texts, objects or truth values; the engine wants a set of violations. A value of a form that
#   is not understood is handed on as it is, and the engine refuses it as an error: it never becomes an empty set.
package fleetaudit_foreign.said

# Messages in a set or a list: the answer of deny, warn and violation.
messages(said) := {violation |
	some item in said
	some violation in violations(item)
} if {
	is_collection(said)
} else := said

is_collection(value) if is_set(value)

is_collection(value) if is_array(value)

violations(item) := [{"path": [], "message": item}] if {
	is_string(item)
} else := alerts(item) if {
	is_string(item.alertMessage)
} else := [object.union({"path": [], "message": text}, seen(item))] if {
	some key in ["msg", "message"]
	text := item[key]
	is_string(text)
} else := [item]

# Whatever the policy put beside its message. conftest's place of a finding in the file is of no use here.
seen(item) := {"seen": rest} if {
	rest := {key: value |
		some key, value in object.remove(item, {"msg", "message", "_loc"})
		not nothing[value]
	}
	count(rest) > 0
} else := {}

nothing := {null, "", [], {}}

# ---- Kubescape's alerts: one violation for each path they name

alerts(item) := [object.union({"path": segments(path), "message": item.alertMessage}, fix(item, path)) |
	some path in paths(item)
] if {
	count(paths(item)) > 0
} else := [{"path": [], "message": item.alertMessage}]

paths(item) := {path |
	some key in ["reviewPaths", "failedPaths", "deletePaths"]
	some path in item[key]
	is_string(path)
	path != ""
} | {entry.path |
	some entry in item.fixPaths
	is_string(entry.path)
	entry.path != ""
}

fix(item, path) := {"expected": value} if {
	values := [entry.value |
		some entry in item.fixPaths
		entry.path == path
	]
	value := values[0]
} else := {}

# spec.containers[0].image as segments; labels may stand in brackets too.
segments(path) := [segment(part) | some part in regex.find_n(`\[[^\]]*\]|[^.\[\]]+`, path, -1)]

segment(part) := to_number(trim(part, "[]")) if {
	regex.match(`^\[(0|[1-9][0-9]{0,8})\]$`, part)
} else := trim(part, `[]"'`)

# ---- truth values

# True permits: the usual meaning of allow.
permits(said, name) := set() if {
	said == true
} else := {{"path": [], "message": sprintf("%s is false", [name])}} if {
	said == false
} else := said

# True is the violation: an allow that means the opposite.
flags(said, name) := {{"path": [], "message": sprintf("%s is true, which this policy says of violations", [name])}} if {
	said == true
} else := set() if {
	said == false
} else := said

# deny: messages, one message, or a truth value.
denies(said, name) := {{"path": [], "message": sprintf("%s is true", [name])}} if {
	said == true
} else := set() if {
	said == false
} else := {{"path": [], "message": said}} if {
	is_string(said)
} else := messages(said)

# The response of an admission review: {response: {allowed, status: {reason or message}}}, or its inside.
response(said, name) := verdict(object.get(said, "response", said), name) if {
	is_object(said)
} else := said

verdict(answer, name) := set() if {
	answer.allowed == true
} else := {{"path": [], "message": reason(answer, name)}} if {
	answer.allowed == false
} else := answer

reason(answer, name) := text if {
	some key in ["message", "reason"]
	text := answer.status[key]
	is_string(text)
	text != ""
} else := sprintf("%s does not allow it", [name])

# ---- conftest's exceptions: the failure stands, with the name of what accepts it

accepted(violations, name) := {object.union(violation, {"expected": {"fleetaudit:accepted_by": name}}) |
	some violation in violations
} if {
	is_set(violations)
	every violation in violations {
		is_object(violation)
	}
} else := violations
