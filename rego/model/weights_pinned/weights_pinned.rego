# METADATA
# scope: package
# title: Model weights are named by something that cannot change
# description: |
#   A model named without a commit, version or digest is whatever its owner last uploaded: the next restart may serve other
#   weights than those that were evaluated. Read are the flags, first arguments and variables of known servers and download
#   tools, KServe's storage addresses, the models of a Ray Serve configuration and image volumes. A local path passes only when
#   an image with a digest brings what lies there: an image volume, or the container's own image where nothing is mounted. What
#   lies on any other volume can't be told from manifests, read-only or not, because somebody else writes it: such a path, and a
#   value filled in at run time, proves nothing, and a pod with nothing else to judge is not asked.
# related_resources:
# - ref: https://huggingface.co/docs/huggingface_hub/guides/download
# - ref: https://kserve.github.io/website/docs/model-serving/storage/providers/hf
# - ref: https://genai.owasp.org/llmrisk/llm032025-supply-chain/
# custom:
#   severity: high
#   match:
#     pod_templates: true
#   not_applicable: names_no_model_that_could_be_pinned
#   remediation: Name the commit with the revision flag, a versioned path, or a digest, and verify the signature of the model.
#   fix: |
#     args:
#     - --model=meta-llama/Llama-3.1-8B-Instruct
#     - --revision=0e9e39f249a16976918f6564b8830bc894c89659
package model.weights_pinned

import data.lib.image
import data.lib.model_reference
import data.lib.model_server
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if {
	some entry in model_reference.references
	judged(entry)
}

applies if count(image_volumes) > 0

violations contains violation if {
	applies
	some entry in model_reference.references
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
	not has_digest(volume.reference)
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

loose(entry) := model_reference.mutable(entry.reference, entry.revision) if elsewhere(entry)

# Something outside of the pod, whose text says whether it can change. Where an address is expected, a bare name is a path.
elsewhere(entry) if {
	entry.kind == "hub"
	model_reference.remote(entry.reference)
}

elsewhere(entry) if {
	entry.kind == "uri"
	contains(entry.reference, "://")
	model_reference.remote(entry.reference)
}

judged(entry) if elsewhere(entry)

judged(entry) if {
	entry.kind == "ollama"
	not startswith(entry.reference, "$")
}

# A path in the container's own image.
judged(entry) if {
	startswith(entry.reference, "/")
	container := entry.holder.value
	has_digest(container.image)
	every mount in obj.list(container, ["volumeMounts"]) {
		not holds(mount, entry.reference)
	}
}

holds(mount, path) if {
	at := trim_suffix(obj.text(mount, ["mountPath"]), "/")
	startswith(concat("", [path, "/"]), concat("", [at, "/"]))
}

has_digest(reference) if {
	parsed := image.parse(reference)
	parsed.valid
	parsed.digest != null
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
