# METADATA
# title: Pod templates and containers of any workload
# description: |
#   Reads data.pod_templates (rego/pod_templates.yaml) once per object and offers arrays that rules loop over.
#   Every value is safe to read: null, missing and wrongly typed parts become {} or [].
package lib.workload

# What the table says about this kind; [] for a kind without pods.
default entries := []

entries := data.pod_templates[kind_key]

default kind_key := ""

kind_key := input.kind if not contains(input.apiVersion, "/")

kind_key := concat("/", [split(input.apiVersion, "/")[0], input.kind]) if contains(input.apiVersion, "/")

# Every place that holds a pod template, a pod spec or a lone container, in the order of the table.
#   path             from the object's root to what the table points at
#   spec_path        from the root to the pod spec
#   spec             the pod spec ({} when absent)
#   metadata         the pod's metadata ({} when absent)
#   security         spec.securityContext ({} when absent)
#   partial          true when another object fills what is not said here: judge values, never absence
#   once             true when the pod is meant to end (Job-like kinds, restartPolicy Never or OnFailure)
#   probes           "own", or "injected" when the controller adds probes by itself
#   service_account  false when the account is set in another object
#   windows          spec.os.name is windows
#   user_namespace   spec.hostUsers is false
templates := [template(entry, place) |
	some entry in entries
	some place in located(entry.path)
	is_object(place.value)
	runs_pods(entry, place.value)
]

# Templates whose pod-level fields are all here: the ones that can be judged on absence.
whole_templates := [t | some t in templates; not t.partial]

# Every container, whatever its kind and depth.
#   path      from the object's root
#   name      its name, or containers[0] and the like when it has none
#   type      container, init, sidecar or ephemeral; a sidecar is an init container with restartPolicy Always
#   value     the container ({} when it is no mapping)
#   security  its securityContext ({} when absent)
#   template  index into templates
#   partial   as for templates
#   windows   as for templates
containers := array.concat(listed_containers, lone_containers)

# Containers that can be judged on absence.
whole_containers := [c | some c in containers; not c.partial]

# Containers of pods that aren't Windows pods, partial ones included.
linux_containers := [c | some c in containers; c.windows == false]

# A Linux container that can be judged on absence is there.
default has_linux_container := false

has_linux_container if {
	some c in whole_containers
	c.windows == false
}

# Those that hold resources of their own; the API refuses resources on ephemeral ones.
resource_containers := [c | some c in whole_containers; c.type != "ephemeral"]

# Those that serve until they are stopped: main containers and sidecars of pods that aren't meant to end.
serving_containers := [c |
	some c in whole_containers
	serving_types[c.type]
	t := templates[c.template]
	t.once == false
	t.probes == "own"
]

# Volumes of all templates: {"path", "name", "value", "template"}.
volumes := [volume |
	some index, t in templates
	some source in t.sources
	some i, value in object.get(source.value, "volumes", [])
	volume := {
		"path": array.concat(source.path, ["volumes", i]),
		"name": name_of(value, "volumes", i),
		"value": mapping(value),
		"template": index,
	}
]

# Where a pod-level field stands, or should stand.
field_path(t, field) := array.concat(holders[0].path, [field]) if {
	holders := [source | some source in t.sources; object.get(source.value, field, null) != null]
	count(holders) > 0
} else := array.concat(t.spec_path, [field])

# The container's own setting when it has one, else the pod's, else null. An empty value counts as none.
effective(c, field) := own if {
	own := object.get(c.security, field, null)
	not empty[own]
} else := inherited if {
	inherited := object.get(templates[c.template].security, field, null)
	not empty[inherited]
} else := null

# Path of the effective setting; of the container's own when neither is set.
effective_path(c, field) := security_path(templates[c.template], field) if {
	empty[object.get(c.security, field, null)]
	not empty[object.get(templates[c.template].security, field, null)]
} else := array.concat(c.path, ["securityContext", field])

# Path of an annotation of the pod.
annotation_path(t, key) := array.concat(t.path, ["annotations", key]) if {
	t.holds == "spec"
} else := array.concat(t.path, ["metadata", "annotations", key])

# Path of a field of the pod's securityContext.
security_path(t, field) := array.concat(field_path(t, "securityContext"), [field])

# May this container be judged on that value? A partial one only on what it says.
judged(c, value) if {
	c.partial == false
} else if {
	not empty[value]
} else := false

# The elements of a list; a lone value where a list belongs counts as one element, so that it's judged too.
items(value) := value if {
	is_array(value)
} else := [] if {
	empty[value]
} else := [value]

# The type of an AppArmor or seccomp profile, "" when the profile names none; undefined when there is no profile.
profile_type(profile) := object.get(profile, "type", "") if {
	is_object(profile)
	object.get(profile, "type", "") != null
} else := "" if {
	profile != null
}

# Name of the service account a pod runs as.
account(t) := t.spec.serviceAccountName if {
	is_string(t.spec.serviceAccountName)
	t.spec.serviceAccountName != ""
} else := t.spec.serviceAccount if {
	is_string(t.spec.serviceAccount)
	t.spec.serviceAccount != ""
} else := "default"

# Does a container or pod spec state this resource, under requests or limits?
has_resource(holder, kind, name) if not empty[holder.resources[kind][name]]

# Switches that are off: anything else in a switch's place counts as on. Ask with `in`: off[false] is false itself.
off := {false, null, ""}

# Null, missing and empty values mean the same in every rule.
empty := {null, "", [], {}}

serving_types := {"container": true, "sidecar": true}

# ---- finding templates

# A path with no star, one or two; "*" stands for every element of a list or value of a mapping.
located(path) := [{"path": path, "value": read(input, path)}] if {
	not "*" in path
} else := expanded([], input, path) if {
	count(stars(path)) == 1
} else := [place |
	second := stars(path)[1]
	some outer in expanded([], input, array.slice(path, 0, second))
	some place in expanded(outer.path, outer.value, array.slice(path, second, count(path)))
]

stars(path) := [i | some i, segment in path; segment == "*"]

expanded(base, value, path) := [place |
	star := stars(path)[0]
	head := array.slice(path, 0, star)
	tail := array.slice(path, star + 1, count(path))
	some key, item in read(value, head)
	place := {
		"path": array.concat(array.concat(base, array.concat(head, [key])), tail),
		"value": read(item, tail),
	}
]

read(value, path) := value if {
	path == []
} else := object.get(value, path, null) if {
	is_object(value)
} else := null

# ---- building records

template(entry, place) := {
	"path": place.path,
	"holds": entry.holds,
	"spec_path": spec_path,
	"spec": spec,
	"metadata": metadata_of(entry.holds, place.value),
	"security": mapping(object.get(spec, "securityContext", null)),
	"sources": sources,
	"groups": groups[entry.holds],
	"lone": object.get(entry, "merged", lone[entry.holds]),
	"partial": object.get(entry, "partial", entry.holds == "container"),
	"once": once(entry, spec),
	"probes": object.get(entry, "probes", "own"),
	"service_account": object.get(entry, "service_account", true),
	"windows": object.get(spec, ["os", "name"], "") == "windows",
	"user_namespace": object.get(spec, "hostUsers", true) == false,
} if {
	sources := sources_of(entry, place)
	spec_path := sources[0].path
	spec := spec_of(sources)
}

# Where pod-level fields come from, nearest first.
sources_of(entry, place) := [{
	"path": array.concat(place.path, ["spec"]),
	"value": mapping(object.get(place.value, "spec", null)),
}] if entry.holds == "template"

sources_of(entry, place) := [{"path": place.path, "value": place.value}] if entry.holds == "spec"

sources_of(entry, place) := [{
	"path": array.slice(place.path, 0, count(place.path) - 1),
	"value": {"containers": [place.value]},
}] if entry.holds == "container"

sources_of(entry, place) := array.concat([{"path": place.path, "value": place.value}], outer) if {
	entry.holds == "argo_template"
	outer := [{"path": path, "value": value} |
		some path in entry.inherits
		value := object.get(input, path, null)
		is_object(value)
	]
}

spec_of(sources) := sources[0].value if count(sources) == 1

spec_of(sources) := {field: value |
	count(sources) > 1
	some i, source in sources
	some field, value in source.value
	value != null
	nearer := array.slice(sources, 0, i)
	count([1 | some n in nearer; object.get(n.value, field, null) != null]) == 0
} if {
	count(sources) > 1
}

metadata_of("template", value) := mapping(object.get(value, "metadata", null))

# Kinds that inline the pod spec put the pod's labels and annotations beside its fields.
metadata_of("spec", value) := object.filter(value, ["labels", "annotations"])

metadata_of("container", _) := {}

metadata_of("argo_template", value) := mapping(object.get(value, "metadata", null))

once(entry, spec) if {
	entry.runs == "once"
} else if {
	ending_policies[object.get(spec, "restartPolicy", "")]
} else := false

ending_policies := {"Never": true, "OnFailure": true}

# A workflow template of steps, a DAG or a pause starts no container of its own.
runs_pods(entry, value) if {
	entry.holds != "argo_template"
} else if {
	some field in ["container", "script", "containerSet"]
	is_object(value[field])
}

groups := {
	"template": pod_groups,
	"spec": pod_groups,
	"container": [],
	"argo_template": [
		{"field": ["containerSet", "containers"], "type": "container"},
		{"field": ["initContainers"], "type": "init"},
		{"field": ["sidecars"], "type": "sidecar"},
	],
}

pod_groups := [
	{"field": ["containers"], "type": "container"},
	{"field": ["initContainers"], "type": "init"},
	{"field": ["ephemeralContainers"], "type": "ephemeral"},
]

lone := {
	"template": [],
	"spec": [],
	"container": [],
	"argo_template": ["container", "script"],
}

listed_containers := [container |
	some index, t in templates
	some group in t.groups
	some i, value in object.get(t.sources[0].value, group.field, [])
	container := {
		"path": array.concat(array.concat(t.spec_path, group.field), [i]),
		"name": name_of(value, group.field[count(group.field) - 1], i),
		"type": type_of(group.type, value),
		"value": mapping(value),
		"security": security_of(value),
		"template": index,
		"partial": t.partial,
		"windows": t.windows,
	}
]

# Containers that stand alone under a field: Argo's container and script, KServe's model and its older forms.
lone_containers := array.concat(
	[container |
		some index, t in templates
		some field in t.lone
		value := object.get(t.sources[0].value, field, null)
		is_object(value)
		container := {
			"path": array.concat(t.spec_path, [field]),
			"name": object.get(value, "name", field),
			"type": "container",
			"value": value,
			"security": security_of(value),
			"template": index,
			"partial": t.holds != "argo_template",
			"windows": t.windows,
		}
	],
	[container |
		some index, t in templates
		count(t.groups) == 0
		value := t.sources[0].value.containers[0]
		container := {
			"path": t.path,
			"name": object.get(value, "name", t.path[count(t.path) - 1]),
			"type": "container",
			"value": value,
			"security": security_of(value),
			"template": index,
			"partial": true,
			"windows": false,
		}
	],
)

type_of("init", value) := "sidecar" if {
	value.restartPolicy == "Always"
} else := "init"

type_of("container", _) := "container"

type_of("sidecar", _) := "sidecar"

type_of("ephemeral", _) := "ephemeral"

name_of(value, field, i) := value.name if {
	is_string(value.name)
	value.name != ""
} else := sprintf("%s[%v]", [field, i])

security_of(value) := value.securityContext if {
	is_object(value.securityContext)
} else := {}

mapping(value) := value if {
	is_object(value)
} else := {}
