# METADATA
# scope: package
# title: Model servers and the models they load
# description: |
#   Recognises containers that serve models, or fetch them, by the name of their image or by their command, as the parameters
#   of model/server-exposed list them; every rule of the family reads that list.
package lib.model_server

import data.lib.object as obj
import data.lib.workload

known := data.parameters["model/server-exposed"]

# Containers that are recognised: {container, name, settings}. Long-running ones serve, any may fetch.
found := [{"container": container, "name": name, "settings": settings} |
	some container in workload.containers
	name := recognised(container)
	settings := known.servers[name]
	allowed(settings, container)
]

# Those that answer requests.
servers := [server | some server in found; object.get(server.settings, "fetches_only", false) != true]

# KServe describes a server without a container of its own, too.
describes_server if workload.kind_key == "serving.kserve.io/LLMInferenceService"

describes_server if {
	workload.kind_key == "serving.kserve.io/InferenceService"
	count(obj.mapping(input, ["spec", "predictor"])) > 0
}

# Indexes of the templates with a server, in order.
serving_templates := [template |
	some index, template in workload.templates
	some_in(index)
]

some_in(index) if {
	some server in servers
	server.container.template == index
}

allowed(_, container) if container.type in {"container", "sidecar"}

allowed(settings, container) if {
	container.type == "init"
	settings.fetches_only == true
}

# ---- recognition

recognised(container) := name if {
	name := by_image(container.value)
} else := name if {
	name := by_command(container)
} else := "kserve" if {
	workload.kind_key == "serving.kserve.io/InferenceService"
	count(container.path) == 3
	container.path[1] == "predictor"
}

by_image(value) := names[0] if {
	keys := image_keys(value.image)
	hits := object.union(object.filter(known.images, keys), object.filter(object.get(known, "own_images", {}), keys))
	count(hits) > 0
	names := [name | some key in array.reverse(keys); name := hits[key]]
}

# The parts of an image's path without tag and digest, and its last two parts together.
image_keys(image) := array.concat(array.slice(parts, 0, size - 1), [last, concat("/", [before, last])]) if {
	is_string(image)
	parts := split(lower(split(image, "@")[0]), "/")
	size := count(parts)
	last := split(parts[size - 1], ":")[0]
	before := concat("", array.slice(parts, max([0, size - 2]), size - 1))
}

by_command(container) := names[0] if {
	line := command_line(container.value)
	line != ""
	count(object.filter(known.launchers, regex.split(`[\s/"';|&()]+`, line))) > 0
	spaced := regex.replace(line, `[\s\\]+`, " ")
	names := [name |
		some key, name in known.commands
		contains(spaced, key)
		regex.match(concat("", [`(^|[\s/"';|&(])`, regex_escaped(key), `($|[\s"';|&)])`]), spaced)
	]
}

regex_escaped(text) := replace(replace(text, ".", `\.`), "+", `\+`)

command_line(value) := concat(" ", [part |
	some field in ["command", "args"]
	some part in obj.list(value, [field])
	is_string(part)
])

# ---- flags and variables

# Words of the command line with their places; a script in one argument is split as well.
words(container) := [{"path": array.concat(container.path, [field, index]), "text": word} |
	some field in ["command", "args"]
	some index, part in obj.list(container.value, [field])
	is_string(part)
	some piece in regex.split(`[\s\\]+`, part)
	word := trim(piece, `"';`)
	word != ""
]

# Values of flags: --flag value and --flag=value, with - and _ alike; `path` is the flag's place, `value_path` the value's. A flag without a value has "".
flag_values(all_words, flags) := [{"path": word.path, "value_path": value_path(all_words, index, parts, value), "value": value} |
	some index, word in all_words
	startswith(word.text, "-")
	parts := split(word.text, "=")
	replace(parts[0], "_", "-") in flags
	value := given(parts, text_at(all_words, index + 1))
]

# A value that stands in a word of its own is found there.
value_path(all_words, index, parts, value) := all_words[index + 1].path if {
	count(parts) == 1
	value != ""
} else := all_words[index].path

text_at(all_words, index) := all_words[index].text if {
	index < count(all_words)
} else := "-"

given(parts, next) := next if {
	count(parts) == 1
	not startswith(next, "-")
}

given(parts, next) := "" if {
	count(parts) == 1
	startswith(next, "-")
}

given(parts, _) := trim(concat("=", array.slice(parts, 1, count(parts))), `"'`) if count(parts) > 1

# Models that stand without a flag: behind a word such as `vllm serve`, or as the first argument of an image whose own command
# takes the model.
positional(item, all_words) := [{"path": word.path, "value": word.text} |
	some start in starts(item, all_words)
	word := bare_word(all_words, start)
]

# Indexes of the first words that may be the model.
starts(item, all_words) := array.concat(
	[0 |
		object.get(item.settings, "model_first", false) == true
		count(all_words) > 0
		count(obj.list(item.container.value, ["command"])) == 0
		not behind(all_words, list(item.settings, "model_after"))
	],
	[next |
		before := list(item.settings, "model_after")
		some index, word in all_words
		last_part(word.text) in before
		next := index + 1
		next < count(all_words)
		not all_words[next].text in before
	],
)

behind(all_words, before) if {
	some word in all_words
	last_part(word.text) in before
}

# The word itself, or the first one after options that looks like owner/name, a path or an address and is no option's value.
bare_word(all_words, start) := all_words[start] if {
	not startswith(all_words[start].text, "-")
} else := later[0] if {
	ends := [index | some index, word in all_words; index > start; regex.match(`^[0-9]*[<>|&]`, word.text)]
	later := [word |
		some index, word in all_words
		index > start
		index < min(array.concat(ends, [count(all_words)]))
		contains(word.text, "/")
		not startswith(word.text, "-")
		not takes_value(all_words[index - 1].text)
	]
}

# An option whose value is the next word. Names of options that are only switched on or off say so, most of them.
takes_value(text) if {
	startswith(text, "-")
	not contains(text, "=")
	not regex.match(switches, replace(text, "_", "-"))
}

switches := concat("", [
	`^--((no|enable|disable|use|skip|allow|return|show|force|resume)-.*`,
	`|trust-.*|enforce-eager|headless|async-scheduling|calculate-kv-scales|fully-sharded-loras|quiet|verbose|insecure)$`,
])

last_part(text) := parts[count(parts) - 1] if parts := split(text, "/")

# Adapters to the model, as `--lora-modules one=owner/name two=/path`.
# None has a revision of its own.
adapters(all_words, flags) := [adapter |
	some start, flag in all_words
	replace(flag.text, "_", "-") in flags
	ends := [index | some index, word in all_words; index > start; startswith(word.text, "-")]
	some word in array.slice(all_words, start + 1, min(array.concat(ends, [count(all_words)])))
	parts := split(word.text, "=")
	count(parts) > 1
	not startswith(word.text, "{")
	adapter := {
		"path": word.path,
		"value": trim(concat("=", array.slice(parts, 1, count(parts))), `"'`),
		"revision": "",
	}
]

# Environment variables of these names that are set: {path, value}, the value null when it comes from elsewhere.
variables(container, names) := [{"path": array.concat(container.path, ["env", index]), "value": value} |
	some index, entry in obj.list(container.value, ["env"])
	obj.text(entry, ["name"]) in names
	value := variable_value(entry)
]

variable_value(entry) := value if {
	value := entry.value
	is_string(value)
	value != ""
}

variable_value(entry) := null if {
	not workload.empty[object.get(entry, "valueFrom", null)]
	workload.empty[object.get(entry, "value", null)]
}

# A text that means yes.
yes(text) if lower(text) in {"true", "1", "yes", "on"}

# A value that was taken out because it looked like a secret.
redacted(text) if startswith(text, "fleetaudit:redacted:")

# ---- Ray Serve

# Models that a RayService's serve configuration loads with Ray's LLM library: {source, revision, trusts}.
ray_models := [model |
	workload.kind_key == "ray.io/RayService"
	text := obj.text(input, ["spec", "serveConfigV2"])
	contains(text, "llm_configs")
	some application in obj.list(yaml.unmarshal(text), ["applications"])
	some config in obj.list(application, ["args", "llm_configs"])
	loading := obj.mapping(config, ["model_loading_config"])
	model := {
		"source": ray_source(loading),
		"revision": obj.text(config, ["engine_kwargs", "revision"]),
		"trusts": trusting(obj.get(config, ["engine_kwargs", "trust_remote_code"], false)),
	}
]

trusting(value) if {
	is_boolean(value)
	value
} else if {
	is_string(value)
	yes(value)
} else := false

ray_source(loading) := obj.text(loading, ["model_source", "bucket_uri"]) if is_object(loading.model_source)

ray_source(loading) := loading.model_source if is_string(loading.model_source)

ray_source(loading) := obj.text(loading, ["model_id"]) if object.get(loading, "model_source", null) == null

# ---- references to models

# Can be judged from its text: a name on a hub or an address. Paths, claims and what is filled in at run time can't.
remote(reference) if hub_name(reference)

remote(reference) if {
	regex.match(`^[a-z][a-z0-9+.-]*://`, lower(reference))
	not regex.match(`^(pvc|file|local)://`, lower(reference))
}

# Why a remote reference may change its content, or undefined when it is fixed.
mutable(reference, revision) := "no commit is named" if {
	hub_name(reference)
	not commit(revision)
}

mutable(reference, revision) := "no commit is named" if {
	startswith(lower(reference), "hf://")
	not commit(hub_revision(reference))
	not commit(revision)
}

mutable(reference, _) := "no digest is named" if {
	in_registry(reference)
	not regex.match(`@sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$`, reference)
}

mutable(reference, _) := sprintf("%s may change", [word]) if {
	stored(reference)
	word := moving(reference)
}

mutable(reference, _) := "no version is named" if {
	stored(reference)
	not moving(reference)
	not versioned(reference)
}

# A name on the Hugging Face Hub: owner/name, or the older bare name, and the file of one quantisation after a colon. Paths, URLs and variables are none.
hub_name(reference) if regex.match(`^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)?(:[A-Za-z0-9_.-]+)?$`, reference)

hub_revision(reference) := parts[count(parts) - 1] if parts := regex.split(`[:@]`, substring(reference, count("hf://"), -1))

commit(text) if regex.match(`^[0-9a-f]{40}$|^[0-9a-f]{64}$`, text)

in_registry(reference) if regex.match(`^(oci|docker)://`, lower(reference))

# An address in object storage, on the web, or of a kind that is not known here.
stored(reference) if {
	remote(reference)
	not hub_name(reference)
	not startswith(lower(reference), "hf://")
	not in_registry(reference)
}

parts_of(reference) := [part | some part in split(regex.replace(reference, `^[A-Za-z0-9+.-]+://[^/]*`, ""), "/"); part != ""]

moving(reference) := moved[0] if {
	moved := [word | some part in parts_of(reference); word := lower(part); word in known.moving_words]
}

# A part that looks like a version, a date, a commit or a digest.
versioned(reference) if {
	some part in parts_of(reference)
	regex.match(`^(v?[0-9]+([._-][0-9]+)*([+._-][0-9A-Za-z.]+)?|v[0-9][0-9A-Za-z._-]*|[0-9a-f]{7,64}|sha256[-:_][0-9a-f]+)$`, part)
}

versioned(reference) if regex.match(`[?&](versionId|generation)=`, reference)

# What found containers and the object itself load: {path, reference, revision, kind, container ("" for none)}, and holder, the
# container of lib.workload, where there is one.
references := array.concat(
	array.concat(container_references, kserve_references),
	array.concat(llm_references, ray_references),
)

container_references := [entry |
	some item in found
	settings := item.settings
	all_words := words(item.container)
	revision := revision_of(item, all_words)
	some named in array.concat(
		named_by_words(item, all_words),
		variables(item.container, list(settings, "model_variables")),
	)
	is_string(named.value)
	named.value != ""
	entry := {
		"path": object.get(named, "value_path", named.path),
		"reference": resolved(item.container, named.value),
		"revision": object.get(named, "revision", revision),
		"kind": object.get(settings, "models_are", "hub"),
		"container": item.container.name,
		"holder": item.container,
	}
]

# A flag decides; without one the model stands by itself.
named_by_words(item, all_words) := array.concat(models, adapters(all_words, list(item.settings, "adapter_flags"))) if {
	flagged := flag_values(all_words, list(item.settings, "model_flags"))
	models := array.concat(flagged, [model | count(flagged) == 0; some model in positional(item, all_words)])
}

# KServe's own fields, and the address that its storage initialiser reads from the environment.
kserve_references := [reference |
	startswith(workload.kind_key, "serving.kserve.io/")
	some container in workload.containers
	some named in array.concat(
		array.concat(
			[{"path": array.concat(container.path, ["storageUri"]), "value": obj.text(container.value, ["storageUri"])}],
			[{"path": array.concat(container.path, ["storageUris", index, "uri"]), "value": obj.text(entry, ["uri"])} |
				some index, entry in obj.list(container.value, ["storageUris"])
			],
		),
		variables(container, ["STORAGE_URI"]),
	)
	is_string(named.value)
	named.value != ""
	reference := {"path": named.path, "reference": named.value, "revision": "", "kind": "uri", "container": container.name}
]

ray_references := [{
	"path": ["spec", "serveConfigV2"],
	"reference": model.source,
	"revision": model.revision,
	"kind": "hub",
	"container": "",
} |
	some model in ray_models
	model.source != ""
]

# A value that is nothing but a variable of the same container is that variable's value.
resolved(container, value) := values[0] if {
	startswith(value, "$")
	parts := regex.find_all_string_submatch_n(`^\$[({]?([A-Za-z_][A-Za-z0-9_]*)[)}]?$`, value, 1)
	values := [variable.value | some variable in variables(container, [parts[0][1]]); is_string(variable.value)]
} else := value

default revision_of(_, _) := ""

revision_of(item, all_words) := resolved(item.container, values[0]) if {
	values := array.concat(
		[named.value | some named in flag_values(all_words, list(item.settings, "revision_flags"))],
		[named.value |
			some named in variables(item.container, list(item.settings, "revision_variables"))
			is_string(named.value)
		],
	)
}

list(settings, key) := object.get(settings, key, [])

# An LLMInferenceService names its model, and adapters to it, outside of any container.
llm_references := [entry |
	workload.kind_key in {"serving.kserve.io/LLMInferenceService", "serving.kserve.io/LLMInferenceServiceConfig"}
	some named in array.concat(
		[{"path": ["spec", "model", "uri"], "uri": obj.text(input, ["spec", "model", "uri"])}],
		[{"path": ["spec", "model", "lora", "adapters", index, "uri"], "uri": obj.text(adapter, ["uri"])} |
			some index, adapter in obj.list(input, ["spec", "model", "lora", "adapters"])
		],
	)
	named.uri != ""
	entry := {"path": named.path, "reference": named.uri, "revision": "", "kind": "uri", "container": ""}
]
