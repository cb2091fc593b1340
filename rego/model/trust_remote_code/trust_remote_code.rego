# METADATA
# scope: package
# title: Model servers run no code that comes with a model
# description: |
#   With trust_remote_code the server downloads Python files from the model's repository and runs them, with its service
#   account, its network and its GPUs. Whoever can change the repository then runs code in the cluster.
# related_resources:
# - ref: https://huggingface.co/docs/transformers/models#custom-models
# - ref: https://docs.vllm.ai/en/latest/usage/security.html
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: no_model_server
#   remediation: Remove the flag and use a model that the server supports by itself; if not possible, review and vendor its code.
#   fix: |
#     args:
#     - --model=/models/reviewed-model
package model.trust_remote_code

import data.lib.model_server

default applies := false

applies if count(model_server.servers) > 0

applies if count(model_server.ray_models) > 0

rules := data.parameters["model/trust-remote-code"]

violations contains violation if {
	applies
	some server in model_server.servers
	words := model_server.words(server.container)
	some given in model_server.flag_values(words, rules.flags)
	means_yes(given.value)
	violation := {
		"path": given.path,
		"message": sprintf("%s runs code from the model's repository", [server.name]),
		"seen": "--trust-remote-code",
		"expected": "no such flag",
		"container": server.container.name,
	}
}

violations contains violation if {
	applies
	some server in model_server.servers
	some variable in model_server.variables(server.container, rules.variables)
	is_string(variable.value)
	model_server.yes(variable.value)
	violation := {
		"path": array.concat(variable.path, ["value"]),
		"message": sprintf("%s runs code from the model's repository", [server.name]),
		"seen": variable.value,
		"expected": "false",
		"container": server.container.name,
	}
}

violations contains violation if {
	applies
	some model in model_server.ray_models
	model.trusts
	violation := {
		"path": ["spec", "serveConfigV2"],
		"message": "Ray Serve runs code from the model's repository",
		"seen": "trust_remote_code: true",
		"expected": "trust_remote_code: false",
	}
}

# The flag alone means yes; the word after it is a value only when it says yes or no.
means_yes(value) if not lower(value) in {"false", "0", "no", "off"}
