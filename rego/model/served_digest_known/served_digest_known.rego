# METADATA
# scope: package
# title: The model that is served is one that was handed in
# description: |
#   Whatever was found about a model on disk says something about the cluster only when the same model is served. A model server names the
#   digest of its model by an annotation, or by a part of a storage address or path (sha256-...). That digest must be one of a model that
#   was handed in: of its folder as OpenSSF Model Signing counts it, of one of its weight files, or of a signed list. Digests of images
#   (name@sha256:...) are another matter. Asked of servers that name a digest once a model is among the inputs, or of every server when
#   the parameter requires it.
# related_resources:
#   - ref: https://github.com/ossf/model-signing-spec
#   - ref: https://kserve.github.io/website/docs/model-serving/storage/overview
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: names_no_digest_of_a_model
#   context:
#     - {group: artifacts.fleetaudit.dev, kinds: [Model], fields: [spec.digest, spec.weights]}
#     - {group: artifacts.fleetaudit.dev, kinds: [SignedModel], fields: [spec.digest, spec.status]}
#   remediation: Serve the model that was examined, or hand in the one that is served; write its digest into the annotation when it is deployed.
#   fix: |
#     metadata:
#       annotations:
#         fleetaudit.dev/model-digest: sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
package model.served_digest_known

import data.lib.model_reference
import data.lib.model_server
import data.lib.object as fields
import data.lib.workload

default applies := false

applies if {
	count(claims) > 0
	asked
}

applies if {
	required
	serving
}

parameters := data.parameters["model/served-digest-known"]

required if parameters.required == true

asked if count(models) + count(signatures) > 0

asked if required

serving if count(model_server.servers) > 0

serving if model_server.describes_server

models := fields.everywhere("artifacts.fleetaudit.dev/Model")

signatures := fields.everywhere("artifacts.fleetaudit.dev/SignedModel")

known := ({digest |
	some model in models
	digest := fields.text(model, ["spec", "digest", "value"])
	digest != ""
} | {digest |
	some model in models
	some one in fields.list(model, ["spec", "weights", "listed"])
	digest := fields.text(one, ["digest"])
	digest != ""
}) | {digest |
	some signature in signatures
	fields.text(signature, ["spec", "status"]) == "verified"
	digest := fields.text(signature, ["spec", "digest"])
	digest != ""
}

# What the workload says of the model that it serves: {path, value}.
claims := array.concat(annotated, addressed)

annotated := [claim |
	some holder in array.concat([{"path": ["metadata"], "metadata": fields.mapping(input, ["metadata"])}], pods)
	some key in parameters.annotations
	value := fields.mapping(holder.metadata, ["annotations"])[key]
	claim := {"path": array.concat(holder.path, ["annotations", key]), "value": value}
]

pods := [{"path": array.concat(array.slice(template.path, 0, count(template.path)), ["metadata"]), "metadata": template.metadata} |
	some template in workload.templates
	template.holds == "template"
]

addressed := [{"path": reference.path, "value": concat(":", ["sha256", hexadecimal])} |
	some reference in model_reference.references
	is_string(reference.reference)
	some found in regex.find_all_string_submatch_n(`(^|/)sha256[-:_]([0-9a-f]{64})($|[/?])`, reference.reference, -1)
	hexadecimal := found[2]
]

# Digests that none of the models at hand has.
strange := [{"path": claim.path, "digest": digest} |
	some claim in claims
	some digest in digests_of(claim.value)
	well_formed(digest)
	not digest in known
]

digests_of(value) := [trim_space(part) | some part in split(lower(value), ",")] if {
	is_string(value)
} else := [""]

violations contains v if {
	some claim in claims
	some digest in digests_of(claim.value)
	not well_formed(digest)
	v := {"path": claim.path, "message": "this is no digest of a model", "seen": claim.value, "expected": "sha256: and 64 digits"}
}

violations contains v if {
	some claim in strange
	count(unknown) == 0
	v := {"path": claim.path, "message": "no model that was handed in has this digest", "seen": claim.digest, "expected": "the digest of a model that was examined"}
}

violations contains v if {
	some claim in strange
	count(unknown) > 0
	v := {
		"path": claim.path,
		"message": "the digest of a model that was handed in is not known, and may be this one",
		"seen": claim.digest,
		"expected": null,
		"undecided": true,
	}
}

violations contains v if {
	required
	serving
	count(claims) == 0
	v := {
		"path": ["metadata", "annotations"],
		"message": "a model is served, and nothing names its digest",
		"seen": null,
		"expected": parameters.annotations,
	}
}

# Models that were handed in whose digest nobody knows, or that have more weights than are listed.
unknown := [model | some model in models; not fully_known(model)]

fully_known(model) if {
	fields.text(model, ["spec", "digest", "status"]) == "known"
	fields.text(model, ["spec", "digest", "value"]) != ""
	count(fields.list(model, ["spec", "weights", "listed"])) == fields.get(model, ["spec", "weights", "count"], -1)
} else := false

well_formed(digest) if {
	regex.match(`^sha256:[0-9a-f]{64}$`, digest)
} else := false
