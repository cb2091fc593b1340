# METADATA
# scope: package
# title: Model weights are named by something that cannot change
# description: |
#   A model named without a commit, version or digest is whatever its owner last uploaded: the next restart may serve other
#   weights than those that were evaluated. Read are the flags and variables of known servers and download tools, KServe's
#   storage addresses, the models of a Ray Serve configuration and image volumes. Local paths, and values filled in at run
#   time, are not judged.
# related_resources:
# - ref: https://huggingface.co/docs/huggingface_hub/guides/download
# - ref: https://kserve.github.io/website/docs/model-serving/storage/providers/hf
# - ref: https://genai.owasp.org/llmrisk/llm032025-supply-chain/
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: names_no_model
#   remediation: Name the commit with the revision flag, a versioned path, or a digest, and verify the signature of the model.
#   fix: |
#     args:
#     - --model=meta-llama/Llama-3.1-8B-Instruct
#     - --revision=0e9e39f249a16976918f6564b8830bc894c89659
package model.weights_pinned

import data.lib.model_server
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(model_server.references) + count(image_volumes) > 0

violations contains violation if {
	applies
	some entry in model_server.references
	reason := loose(entry)
	violation := with_container(entry.container, {
		"path": entry.path,
		"message": sprintf("model %s: %s", [shown(entry.reference), reason]),
		"seen": entry.reference,
		"expected": "a commit, version or digest",
	})
}

violations contains violation if {
	applies
	some volume in image_volumes
	not contains(volume.reference, "@sha256:")
	violation := {
		"path": array.concat(volume.path, ["image", "reference"]),
		"message": sprintf("model volume %s: no digest is named", [shown(volume.reference)]),
		"seen": volume.reference,
		"expected": "an image reference with a digest",
	}
}

loose(entry) := "tags of Ollama may move" if {
	entry.kind == "ollama"
	not startswith(entry.reference, "$")
}

loose(entry) := model_server.mutable(entry.reference, entry.revision) if entry.kind == "hub"

# Where an address is expected, a bare name is a path.
loose(entry) := model_server.mutable(entry.reference, entry.revision) if {
	entry.kind == "uri"
	contains(entry.reference, "://")
}

# Volumes that bring files from an image into pods with a model server.
image_volumes := [{"path": volume.path, "reference": reference} |
	serving := {server.container.template | some server in model_server.servers}
	count(serving) > 0
	some volume in workload.volumes
	volume.template in serving
	reference := obj.text(volume.value, ["image", "reference"])
	reference != ""
]

with_container("", violation) := violation

with_container(name, violation) := object.union(violation, {"container": name}) if name != ""

# Addresses may carry keys after a question mark.
shown(reference) := split(reference, "?")[0]
