# METADATA
# title: Facts of model files and folders, for tests
package lib.model_facts

none := {"count": 0, "listed": []}

digest := "sha256:abababababababababababababababababababababababababababababababab"

weights_digest := "sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

document(kind, name, spec) := {
	"apiVersion": "artifacts.fleetaudit.dev/v1",
	"kind": kind,
	"metadata": {"name": name},
	"spec": spec,
}

pickle_spec := {
	"status": "read",
	"reason": "",
	"form": "torch archive",
	"pickles": 1,
	"opcodes": 30,
	"allowed": 3,
	"imports": none,
	"unresolved": 0,
	"extensions": 0,
	"changed_imports": 0,
	"broken": none,
	"unexamined": none,
	"odd": none,
}

header_spec := {"status": "valid", "reason": "", "problems": [], "tensors": 2}

file_spec(format) := {
	"file": {"label": "m/model", "sha256": "ab", "bytes": 10},
	"format": format,
	"examined": true,
	"ending": {"status": "fits", "expected": format},
	"pickle": null,
	"header": header_spec,
}

pickle(changes) := document("ModelFile", "m/model.pt", object.union(
	file_spec("pickle"),
	{"header": null, "ending": {"status": "open", "expected": null}, "pickle": object.union(pickle_spec, changes)},
))

safetensors(changes) := document("ModelFile", "m/model.safetensors", object.union(file_spec("safetensors"), changes))

unexamined := document("ModelFile", "m/model.onnx", object.union(file_spec("onnx"), {"examined": false, "header": null}))

card_spec := {
	"status": "read",
	"reason": "",
	"front_matter": true,
	"fields": {"license": ["apache-2.0"], "tags": [], "datasets": ["owner/data"], "base_model": ["owner/base"], "language": ["en"]},
	"characters": 900,
	"sections": [
		{"title": "Intended uses", "characters": 300},
		{"title": "Limitations and bias", "characters": 300},
		{"title": "Training data", "characters": 200},
		{"title": "Evaluation results", "characters": 100},
	],
}

card(changes) := document("ModelCard", "m/README.md", object.union(object.union({"folder": "m"}, card_spec), changes))

model_spec := {
	"folder": "m",
	"config": {"status": "read", "reason": "", "model_type": "llama", "architectures": []},
	"adapter": false,
	"label": {"status": "valid", "place": "", "problems": [], "asset_id": "a", "sensitivity_level": 1, "pii_fields": 0},
	"card": card_spec,
	"licence": {"status": "stated", "names": [{"name": "apache-2.0", "source": "card"}], "texts": ["LICENSE"]},
	"code": {"status": "read", "unread": [], "named": none, "remote": 0, "python": none},
	"shards": {"status": "complete", "reason": "", "missing": none, "outside": none},
	"weights": {
		"count": 1,
		"listed": [{"name": "model.safetensors", "format": "safetensors", "digest": weights_digest}],
		"unexamined": 0,
	},
	"links": none,
	"files": 3,
	"digest": {"status": "known", "value": digest},
}

model(changes) := document("Model", "m", object.union(model_spec, changes))

signed(changes) := document("SignedModel", "m/model.sig", object.union(
	{"status": "verified", "code": "verified", "message": "", "folder": "m", "file": null, "digest": digest, "files": 3},
	changes,
))

inventory(models, signatures) := {
	"artifacts.fleetaudit.dev/Model": {"": models},
	"artifacts.fleetaudit.dev/SignedModel": {"": signatures},
}
