# METADATA
# title: Facts of a bill of materials, for tests
package lib.sbom_facts

elements := [
	{"name": "author", "scope": "document", "total": 1, "present": 1, "absent": 0, "noassertion": 0, "none": 0, "examples": []},
	{"name": "supplier", "scope": "component", "total": 4, "present": 4, "absent": 0, "noassertion": 0, "none": 0, "examples": []},
]

lacking := [elements[0], {"name": "supplier", "scope": "component", "total": 4, "present": 1, "absent": 2, "noassertion": 1, "none": 0, "examples": ["a", "b"]}]

complete(listed) := {"status": "any", "components": 4, "elements": listed, "unchecked": []}

row(expression, status, alternatives, names) := {
	"expression": expression,
	"status": status,
	"reason": "",
	"licences": names,
	"alternatives": alternatives,
	"components": 2,
	"examples": ["x", "y"],
}

digest := "sha256:abababababababababababababababababababababababababababababababab"

subject := {
	"id": "SPDXRef-image",
	"found": true,
	"name": "demo",
	"version": "1",
	"kind": "container",
	"digests": [digest],
	"images": [digest],
	"references": ["registry.example.test/demo:1"],
}

spec := {
	"format": {"status": "valid", "code": "", "reason": "", "problems": [], "deep": {"status": "done", "reason": "", "errors": 0, "problems": []}},
	"content": {"status": "read", "reason": ""},
	"counts": {"packages": 4},
	"structure": {"status": "sound", "problems": []},
	"completeness": {"ntia": complete(elements), "cisa": complete(elements), "bsi": complete(elements)},
	"licences": {
		"counts": {"known": 4, "none": 0, "noassertion": 0, "absent": 0, "unparsable": 0, "undeclared_ref": 0},
		"expressions": [row("MIT", "known", [["MIT"]], ["MIT"])],
		"left_out": 0,
	},
	"subjects": {"listed": [subject], "left_out": 0},
	"created": {"status": "known", "value": "2026-01-01T00:00:00Z", "age_days": 10},
}

document(changes) := {
	"apiVersion": "artifacts.fleetaudit.dev/v1",
	"kind": "Sbom",
	"metadata": {"name": "demo.spdx.json"},
	"spec": object.union(spec, changes),
}

# Read, and not valid by its schema.
broken := document({"format": {"status": "invalid", "code": "schema", "reason": "", "problems": [{"code": "schema", "message": "m", "count": 1, "examples": []}]}})

unread := {
	"apiVersion": "artifacts.fleetaudit.dev/v1",
	"kind": "Sbom",
	"metadata": {"name": "demo.spdx.json"},
	"spec": {
		"format": {"status": "invalid", "code": "not_utf8", "reason": "not UTF-8", "problems": [{"code": "not_utf8", "message": "not UTF-8", "count": 1, "examples": []}]},
		"content": {"status": "unread", "reason": "not UTF-8"},
	},
}

# Every one of them says that something is not known.
undecided(violations) if {
	count(violations) > 0
	every v in violations {
		v.undecided == true
	}
} else := false

# Some say that something is wrong.
decided(violations) if {
	some v in violations
	not v.undecided
} else := false
