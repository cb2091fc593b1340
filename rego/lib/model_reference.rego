# METADATA
# scope: package
# title: The models that containers and objects name
# description: |
#   Finds what a model server or download tool is told to load, by flag, first argument, variable or field, and judges whether
#   the name can change what it stands for.
package lib.model_reference

import data.lib.model_server
import data.lib.object as obj
import data.lib.workload

# What found containers and the object itself load: {path, reference, revision, kind, container ("" for none)}, and holder, the
# container of lib.workload, where there is one.
references := array.concat(
	array.concat(container_references, kserve_references),
	array.concat(llm_references, ray_references),
)

container_references := [entry |
	some item in model_server.found
	settings := item.settings
	all_words := model_server.words(item.container)
	revision := revision_of(item, all_words)
	some named in array.concat(
		named_by_words(item, all_words),
		model_server.variables(item.container, model_server.list(settings, "model_variables")),
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
named_by_words(item, all_words) := array.concat(models, adapters(all_words, model_server.list(item.settings, "adapter_flags"))) if {
	flagged := model_server.flag_values(all_words, model_server.list(item.settings, "model_flags"))
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
		model_server.variables(container, ["STORAGE_URI"]),
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
	some model in model_server.ray_models
	model.source != ""
]

# A value that is nothing but a variable of the same container is that variable's value.
resolved(container, value) := values[0] if {
	startswith(value, "$")
	parts := regex.find_all_string_submatch_n(`^\$[({]?([A-Za-z_][A-Za-z0-9_]*)[)}]?$`, value, 1)
	values := [variable.value | some variable in model_server.variables(container, [parts[0][1]]); is_string(variable.value)]
} else := value

default revision_of(_, _) := ""

revision_of(item, all_words) := resolved(item.container, values[0]) if {
	values := array.concat(
		[named.value | some named in model_server.flag_values(all_words, model_server.list(item.settings, "revision_flags"))],
		[named.value |
			some named in model_server.variables(item.container, model_server.list(item.settings, "revision_variables"))
			is_string(named.value)
		],
	)
}

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

# ---- models without a flag, adapters

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
		not behind(all_words, model_server.list(item.settings, "model_after"))
	],
	[next |
		before := model_server.list(item.settings, "model_after")
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

# ---- what a name stands for

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
	moved := [word | some part in parts_of(reference); word := lower(part); word in model_server.known.moving_words]
}

# A part that looks like a version, a date, a commit or a digest.
versioned(reference) if {
	some part in parts_of(reference)
	regex.match(`^(v?[0-9]+([._-][0-9]+)*([+._-][0-9A-Za-z.]+)?|v[0-9][0-9A-Za-z._-]*|[0-9a-f]{7,64}|sha256[-:_][0-9a-f]+)$`, part)
}

versioned(reference) if regex.match(`[?&](versionId|generation)=`, reference)
