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

# Part of what the parameters say of a server.
list(settings, key) := object.get(settings, key, [])
