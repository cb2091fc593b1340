# METADATA
# scope: package
# title: Pickles import nothing but what rebuilds tensors
# description: |
#   Loading a pickle runs what it names. Each opcode is read in a process of its own, and nothing is loaded: every import must be on the
#   shipped list (tensors, arrays, plain containers) or among the parameter's patterns. A name that is worked out only at run time, an
#   extension code, a state set on an imported class, members of an archive with one name or with a name that leads out of it, and a
#   pickle that can't be read to its end within its limits of time and memory are failures: what nobody can read is not safe. Parts
#   that are not looked at (archives in archives, TorchScript programs, bytes behind the end) leave the file undecided.
# related_resources:
#   - ref: https://docs.python.org/3/library/pickle.html
#   - ref: https://pytorch.org/docs/stable/notes/serialization.html
#   - ref: https://genai.owasp.org/llmrisk/llm032025-supply-chain/
# custom:
#   severity: critical
#   match: {kinds: [{group: artifacts.fleetaudit.dev, kinds: [ModelFile]}]}
#   not_applicable: no_pickle
#   remediation: >-
#     Do not load the file. Take the weights in safetensors from their source, or convert them in a sandbox without network, and find out
#     how the file came here.
package model.pickle_imports_allowed

import data.lib.evidence
import data.lib.object as fields

default applies := false

# A file whose format is not told may hold one.
applies if {
	is_object(input)
	fields.text(evidence.spec, ["format"]) in {"pickle", ""}
}

found := fields.mapping(evidence.spec, ["pickle"])

status := fields.text(found, ["status"])

allowed := data.parameters["model/pickle-imports-allowed"].imports

imports := fields.list(found, ["imports", "listed"])

violations contains v if {
	some i, one in imports
	name := fields.text(one, ["name"])
	not evidence.fits(name, allowed)
	v := evidence.violation(["pickle", "imports", "listed", i], sprintf("loading it imports %s", [name]), name, "an import on the list")
}

# More were found than are listed, and nobody can say that they are allowed.
violations contains v if {
	more := evidence.number(found, ["imports", "count"]) - count(imports)
	more > 0
	v := evidence.violation(["pickle", "imports", "count"], sprintf("%v more imports are not listed", [more]), null, "imports on the list")
}

words := {
	"unresolved": "names are worked out only when it is loaded",
	"extensions": "extension codes stand for imports that nobody can name",
	"changed_imports": "states are set on imported classes or functions",
}

violations contains v if {
	some key, said in words
	number := evidence.number(found, [key])
	number > 0
	v := evidence.violation(["pickle", key], sprintf("%v times: %s", [number, said]), number, 0)
}

violations contains v if {
	some key in ["broken", "odd"]
	rows := fields.list(found, [key, "listed"])
	some i, row in rows
	i < 10
	said := concat(": ", [text | some text in [fields.text(row, ["name"]), fields.text(row, ["reason"])]; text != ""])
	v := evidence.violation(["pickle", key, "listed", i], said, null, "an archive that has one reading")
}

violations contains v if {
	status in {"malformed", "over_limit"}
	v := evidence.violation(["pickle", "status"], sprintf("it can't be read to its end: %s", [why]), status, "read")
}

violations contains v if {
	some i, row in fields.list(found, ["unexamined", "listed"])
	i < 10
	said := sprintf("not looked at: %s %s", [fields.text(row, ["name"]), fields.text(row, ["reason"])])
	v := evidence.undecided(["pickle", "unexamined", "listed", i], said)
}

violations contains v if {
	not status in {"read", "malformed", "over_limit"}
	v := evidence.undecided(["pickle", "status"], "nothing is known of what loading it would run")
}

# Read, and the counts that must be zero are not told.
violations contains v if {
	status == "read"
	some path in [["imports", "count"], ["unresolved"], ["extensions"], ["changed_imports"], ["broken", "count"], ["odd", "count"], ["unexamined", "count"]]
	not is_number(fields.get(found, path, null))
	v := evidence.undecided(array.concat(["pickle"], path), "the facts are not complete")
}

violations contains v if {
	status == "read"
	not holds_something
	v := evidence.undecided(["pickle", "pickles"], "no pickle was found in it, and what else it holds is not known")
}

# Arrays of numbers hold none.
holds_something if fields.text(found, ["form"]) in {"npy", "npz"}

holds_something if evidence.number(found, ["pickles"]) > 0

why := reason if {
	reason := fields.text(found, ["reason"])
	reason != ""
} else := status
