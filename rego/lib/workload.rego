# METADATA
# title: Pod templates and containers of any workload
# description: |
#   Reads data.pod_templates (rego/pod_templates.yaml) once per object and offers arrays that rules loop over.
#   Every value is safe to read: null, missing and wrongly typed parts become {} or [].
package lib.workload

import data.lib.quantity

# What the table says about this kind; [] for a kind without pods.
default entries := []

entries := data.pod_templates[kind_key]

default kind_key := ""

kind_key := concat("/", [parts[0], input.kind]) if {
	parts := split(input.apiVersion, "/")
	count(parts) == 2
}

kind_key := input.kind if not contains(input.apiVersion, "/")

# Every place that holds a pod template, a pod spec or a lone container, in the order of the table, those behind a star last.
#   path             from the object's root to what the table points at
#   holds            template, spec, container or argo_template
#   spec_path        from the root to the pod spec
#   spec             the pod spec ({} when absent); for Argo completed from the workflow
#   own              the pod spec without what it inherits
#   outer            (Argo) {"path", "value"} of what it inherits from, nearest first; else []
#   metadata         the pod's metadata ({} when absent)
#   security         spec.securityContext ({} when absent)
#   partial          true when another object fills what is not said here: judge values, never absence
#   once             true when the pod is meant to end (Job-like kinds, restartPolicy Never or OnFailure)
#   probes           "own", or "injected" when the controller adds probes by itself
#   service_account  false when the account is set in another object
#   windows          spec.os.name is windows
#   user_namespace   spec.hostUsers is false
templates := array.concat(fixed_templates, starred_templates)

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
containers := array.concat(array.concat(main_containers, init_containers), other_containers)

# Containers that can be judged on absence.
whole_containers := [c | some c in containers; not c.partial]

# Containers of pods that aren't Windows pods, partial ones included.
linux_containers := [c | some c in containers; not c.windows]

# A Linux container that can be judged on absence is there.
default has_linux_container := false

has_linux_container if {
	some c in whole_containers
	not c.windows
}

# Those that hold resources of their own; the API refuses resources on ephemeral ones.
resource_containers := [c | some c in whole_containers; c.type != "ephemeral"]

# Those that serve until they are stopped: main containers and sidecars of pods that aren't meant to end.
serving_containers := [c |
	some c in whole_containers
	serving_types[c.type]
	t := templates[c.template]
	not t.once
	t.probes == "own"
]

# Volumes of all templates: {"path", "name", "value", "template"}.
volumes := [volume |
	some index, t in templates
	some source in array.concat([{"path": t.spec_path, "value": t.own}], t.outer)
	some i, value in source.value.volumes
	volume := {
		"path": array.concat(source.path, ["volumes", i]),
		"name": name_of(value, "volumes", i),
		"value": mapping(value),
		"template": index,
	}
]

# Where a pod-level field stands, or should stand.
field_path(t, field) := array.concat(t.spec_path, [field]) if {
	object.get(t.own, field, null) != null
} else := array.concat(holders[0].path, [field]) if {
	holders := [source | some source in t.outer; object.get(source.value, field, null) != null]
	count(holders) > 0
} else := array.concat(t.spec_path, [field])

# Path of a field of the pod's securityContext.
security_path(t, field) := array.concat(field_path(t, "securityContext"), [field])

# Path of an annotation of the pod.
annotation_path(t, key) := array.concat(t.path, ["annotations", key]) if {
	t.holds == "spec"
} else := array.concat(t.path, ["metadata", "annotations", key])

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

# What a container or pod spec states for a resource, under requests or limits; null for nothing.
resource(holder, kind, name) := value if {
	value := holder.resources[kind][name]
	not empty[value]
} else := null

# Does it state one that bounds or asks for something? Zero and what is no quantity do not.
has_resource(holder, kind, name) if quantity.positive(holder.resources[kind][name])

# A probe that asks something: a handler with its port, or a command that can fail.
probes(probe) if {
	some handler in ["httpGet", "tcpSocket", "grpc"]
	not empty[object.get(mapping(probe[handler]), "port", null)]
} else if {
	command := probe.exec.command
	not empty[command]
	not empty[command[0]]
	not always_succeeds(command)
} else := false

always_succeeds(command) if {
	words := [trim_space(word) | some word in command; is_string(word)]
	regex.match(`^((/usr)?/bin/)?(true|:)$`, words[0])
} else if {
	words := [trim_space(word) | some word in command; is_string(word)]
	words[1] == "-c"
	regex.match(`^(exit( +0)?|((/usr)?/bin/)?true|:);?$`, words[2])
} else := false

# Switches that are off: anything else in a switch's place counts as on. Ask with `in`: off[false] is false itself.
off := {false, null, ""}

# Null, missing and empty values mean the same in every rule.
empty := {null, "", [], {}}

serving_types := {"container": true, "sidecar": true}

# ---- finding templates

fixed_templates := [template(entry.holds, entry, entry.path, value) |
	some entry in entries
	not "*" in entry.path
	value := object.get(input, entry.path, null)
	is_object(value)
]

starred_templates := [template(entry.holds, entry, place.path, place.value) |
	some entry in entries
	"*" in entry.path
	some place in located(entry.path)
	is_object(place.value)
	runs_pods(entry.holds, place.value)
]

# Places behind one star or two; "*" stands for every element of a list or value of a mapping.
located(path) := expanded([], input, path) if {
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

# A workflow template of steps, a DAG or a pause starts no container of its own.
runs_pods("template", _)

runs_pods("spec", _)

runs_pods("container", _)

runs_pods("argo_template", value) if {
	some field in ["container", "script", "containerSet"]
	is_object(value[field])
}

# ---- building templates

template("template", entry, path, value) := record(
	{
		"path": path,
		"holds": "template",
		"spec_path": array.concat(path, ["spec"]),
		"metadata": mapping(object.get(value, "metadata", null)),
		"outer": [],
		"merged": [],
		"own": spec,
	},
	entry,
	spec,
) if {
	spec := mapping(object.get(value, "spec", null))
}

# Kinds that inline the pod spec put the pod's labels and annotations beside its fields.
template("spec", entry, path, value) := record(
	{
		"path": path,
		"holds": "spec",
		"spec_path": path,
		"metadata": object.filter(value, ["labels", "annotations"]),
		"outer": [],
		"merged": object.get(entry, "merged", []),
		"own": value,
	},
	entry,
	value,
)

template("container", entry, path, _) := record(
	{
		"path": path,
		"holds": "container",
		"spec_path": outer_path,
		"metadata": {},
		"outer": [],
		"merged": [path[last]],
		"own": read(input, outer_path),
	},
	object.union({"partial": true}, entry),
	{},
) if {
	last := count(path) - 1
	outer_path := array.slice(path, 0, last)
}

template("argo_template", entry, path, value) := record(
	{
		"path": path,
		"holds": "argo_template",
		"spec_path": path,
		"metadata": mapping(object.get(value, "metadata", null)),
		"outer": outer,
		"merged": ["container", "script"],
		"own": value,
	},
	entry,
	object.union(inherited, {field: item | some field, item in value; item != null}),
) if {
	outer := [{"path": place, "value": found} |
		some place in entry.inherits
		found := object.get(input, place, null)
		is_object(found)
	]
	inherited := {field: item |
		some i, source in outer
		some field, item in source.value
		item != null
		object.get(value, field, null) == null
		nearer := [1 | some j in numbers.range(0, i - 1); j >= 0; j < i; object.get(outer[j].value, field, null) != null]
		nearer == []
	}
}

record(base, entry, spec) := object.union(base, {
	"spec": spec,
	"security": mapping(object.get(spec, "securityContext", null)),
	"partial": object.get(entry, "partial", false),
	"once": object.get(ending_policies, object.get(spec, "restartPolicy", null), object.get(entry, "runs", "") == "once"),
	"probes": object.get(entry, "probes", "own"),
	"service_account": object.get(entry, "service_account", true),
	"windows": object.get(spec, ["os", "name"], "") == "windows",
	"user_namespace": object.get(spec, "hostUsers", true) == false,
})

ending_policies := {"Never": true, "OnFailure": true}

# ---- building containers

main_containers := [container(value, index, t, ["containers", i], "container") |
	some index, t in templates
	some i, value in t.own.containers
]

init_containers := [container(value, index, t, ["initContainers", i], init_type(value)) |
	some index, t in templates
	some i, value in t.own.initContainers
]

# Ephemeral ones, those that stand alone under a field (Argo's container and script, KServe's model), Argo's others.
other_containers := array.concat(
	array.concat(
		[container(value, index, t, ["ephemeralContainers", i], "ephemeral") |
			some index, t in templates
			some i, value in t.own.ephemeralContainers
		],
		[merged_container(value, index, t, field) |
			some index, t in templates
			some field in t.merged
			value := t.own[field]
			is_object(value)
		],
	),
	array.concat(
		[container(value, index, t, ["containerSet", "containers", i], "container") |
			some index, t in templates
			t.holds == "argo_template"
			some i, value in t.own.containerSet.containers
		],
		[container(value, index, t, ["sidecars", i], "sidecar") |
			some index, t in templates
			t.holds == "argo_template"
			some i, value in t.own.sidecars
		],
	),
)

container(value, index, t, place, type) := {
	"path": array.concat(t.spec_path, place),
	"name": value.name,
	"type": type,
	"value": value,
	"security": mapping(object.get(value, "securityContext", null)),
	"template": index,
	"partial": t.partial,
	"windows": t.windows,
} if {
	is_string(value.name)
	value.name != ""
} else := {
	"path": array.concat(t.spec_path, place),
	"name": sprintf("%s[%v]", array.slice(place, count(place) - 2, count(place))),
	"type": type,
	"value": mapping(value),
	"security": mapping(object.get(mapping(value), "securityContext", null)),
	"template": index,
	"partial": t.partial,
	"windows": t.windows,
}

# A runtime or another object completes it, except in a workflow, where it is all there is.
merged_container(value, index, t, field) := {
	"path": array.concat(t.spec_path, [field]),
	"name": name,
	"type": "container",
	"value": value,
	"security": mapping(object.get(value, "securityContext", null)),
	"template": index,
	"partial": t.holds != "argo_template",
	"windows": t.windows,
} if {
	name := text(object.get(value, "name", null), lone_name(t, field))
}

# A container that stands in a list of its own is called after the list.
lone_name(t, field) := sprintf("%s[%v]", [t.spec_path[count(t.spec_path) - 1], field]) if {
	is_number(field)
} else := field

init_type(value) := "sidecar" if {
	value.restartPolicy == "Always"
} else := "init"

name_of(value, field, i) := text(object.get(value, "name", null), sprintf("%s[%v]", [field, i])) if {
	is_object(value)
} else := sprintf("%s[%v]", [field, i])

text(value, fallback) := value if {
	is_string(value)
	value != ""
} else := fallback

mapping(value) := value if {
	is_object(value)
} else := {}
