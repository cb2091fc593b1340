# METADATA
# scope: package
# title: Model files are in a format that runs no code, and their headers are sound
# description: |
#   Pickles run code when they are loaded, whatever is in them today. safetensors, GGUF and NumPy arrays hold numbers and texts;
#   their headers are read and must tell the truth about the file: lengths within it, tensors that fill it without a gap or an
#   overlap, no name twice. A file whose ending promises another format than its content has fails, because loaders go by the ending
#   and scanners by the content. Formats that are known by name alone (Keras, HDF5, ONNX, TensorFlow Lite and others) are not
#   examined, and so undecided.
# related_resources:
#   - ref: https://github.com/huggingface/safetensors#format
#   - ref: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
# custom:
#   severity: high
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [ModelFile]}]}
#   not_applicable: tolerated_by_parameter
#   remediation: Take or convert the weights as safetensors, and load them with a library that refuses everything else.
package model.weights_format_safe

import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if {
	is_object(input)
	not evidence.fits(fields.name, parameters.tolerated)
}

parameters := data.parameters["model/weights-format-safe"]

format := fields.text(evidence.spec, ["format"])

header := fields.mapping(evidence.spec, ["header"])

status := fields.text(header, ["status"])

ending := fields.text(evidence.spec, ["ending", "status"])

violations contains v if {
	format == "pickle"
	v := evidence.violation(["format"], "a format that runs code when it is loaded", format, parameters.formats)
}

violations contains v if {
	examined
	format != "pickle"
	not format in parameters.formats
	v := evidence.violation(["format"], sprintf("the format %s is not among those accepted", [format]), format, parameters.formats)
}

violations contains v if {
	ending == "differs"
	expected := fields.text(evidence.spec, ["ending", "expected"])
	v := evidence.violation(["ending"], sprintf("its ending says %s, and its content %s", [expected, format]), format, expected)
}

violations contains v if {
	status == "invalid"
	some i, problem in fields.list(header, ["problems"])
	said := sprintf("%s (%v times)", [fields.text(problem, ["message"]), evidence.number(problem, ["count"])])
	v := evidence.violation(["header", "problems", i], said, fields.get(problem, ["examples"], null), "a sound header")
}

violations contains v if {
	status == "invalid"
	count(fields.list(header, ["problems"])) == 0
	v := evidence.violation(["header", "status"], "its header is not sound", status, "valid")
}

violations contains evidence.undecided(["format"], sprintf("files of the format %s are not examined", [shown])) if not examined

violations contains v if {
	examined
	format != "pickle"
	not status in {"valid", "invalid"}
	reason := fields.text(header, ["reason"])
	v := evidence.undecided(["header", "status"], sprintf("nothing is known of its header: %s", [reason]))
}

violations contains v if {
	not ending in {"fits", "open", "differs"}
	v := evidence.undecided(["ending", "status"], "nothing is known of its ending")
}

default examined := false

examined if {
	evidence.spec.examined == true
	format != ""
}

shown := format if {
	format != ""
} else := "that nobody told"
