# METADATA
# scope: package
# title: Model servers ask for credentials
# description: |
#   Most model servers answer anyone unless a key is set, and some cannot ask for one at all. The server passes when its flag
#   or variable for a key is set, when it authenticates by default and this is not switched off, when an authenticating proxy
#   runs in the same pod, or when an annotation says that its controller adds one. A mesh or gateway in front is not seen here.
# related_resources:
# - ref: https://docs.vllm.ai/en/latest/usage/security.html
# - ref: https://genai.owasp.org/llmrisk/llm102025-unbounded-consumption/
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_model_server
#   remediation: |
#     Set the server's API key from a Secret, or put an authenticating proxy into the pod and let the server listen on localhost.
#   fix: |
#     env:
#     - name: VLLM_API_KEY
#       valueFrom:
#         secretKeyRef:
#           name: vllm
#           key: api-key
package model.server_authenticated

import data.lib.model_server
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(model_server.servers) > 0

violations contains violation if {
	applies
	some server in model_server.servers
	not authenticated(server)
	violation := {
		"path": array.concat(server.container.path, ["args"]),
		"message": message(server),
		"seen": null,
		"expected": expected(server.settings),
		"container": server.container.name,
	}
}

default authenticated(_) := false

authenticated(server) if {
	some given in model_server.flag_values(
		model_server.words(server.container),
		model_server.list(server.settings, "key_flags"),
	)
	given.value != ""
}

# A reference that is optional leaves the key out where nothing is found.
authenticated(server) if {
	some variable in model_server.variables(server.container, model_server.list(server.settings, "key_variables"))
	source := obj.mapping(server.container.value.env[variable.path[count(variable.path) - 1]], ["valueFrom"])
	every reference in source {
		obj.get(reference, ["optional"], false) != true
	}
}

# A whole argument that was taken out as a secret can only be the key, unless it belongs to another option.
authenticated(server) if {
	flags := model_server.list(server.settings, "key_flags")
	count(flags) > 0
	words := model_server.words(server.container)
	some index, word in words
	model_server.redacted(word.text)
	not belongs_elsewhere(words, index, flags)
}

default belongs_elsewhere(_, _, _) := false

belongs_elsewhere(words, index, flags) if {
	before := words[index - 1].text
	startswith(before, "-")
	not contains(before, "=")
	not replace(before, "_", "-") in flags
}

authenticated(server) if {
	own := object.get(server.settings, "own_authentication", null)
	is_object(own)
	not switched_off(server.container, own)
}

authenticated(server) if {
	some container in workload.containers
	container.template == server.container.template
	container.path != server.container.path
	container.type in {"container", "sidecar"}
	some key in model_server.image_keys(container.value.image)
	key in model_server.known.authenticating_images
}

authenticated(server) if {
	some annotations in [
		obj.annotations,
		obj.mapping(workload.templates[server.container.template].metadata, ["annotations"]),
	]
	some key, value in annotations
	not obj.absent(value)
	some wanted in model_server.known.authenticating_annotations[key]
	wanted in {"*", value}
}

default switched_off(_, _) := false

switched_off(container, own) if {
	some word in model_server.words(container)
	word.text in own.off_flags
}

switched_off(container, own) if {
	some variable in model_server.variables(container, own.off_variables)
	model_server.yes(variable.value)
}

asks(settings) if count(model_server.list(settings, "key_flags")) + count(model_server.list(settings, "key_variables")) > 0

asks(settings) if is_object(settings.own_authentication)

message(server) := sprintf("%s answers anyone: no key is set", [server.name]) if asks(server.settings)

message(server) := sprintf("%s cannot ask for credentials and nothing in the pod does", [server.name]) if {
	not asks(server.settings)
}

expected(settings) := concat(" or ", names) if {
	names := array.concat(
		model_server.list(settings, "key_flags"),
		model_server.list(settings, "key_variables"),
	)
	count(names) > 0
} else := "an authenticating proxy in the pod, or the server's own authentication left on"
