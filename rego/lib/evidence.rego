# METADATA
# title: Facts of evidence files
# description: |
#   What a rule about facts needs: safe reading, and answers that say "not known". Facts have a status beside everything that may be
#   unknown, and a fact that is missing altogether is not known either.
package lib.evidence

import data.lib.object as fields

spec := fields.mapping(input, ["spec"])

# A violation that says: what must be known is not.
undecided(path, message) := {
	"path": array.concat(["spec"], path),
	"message": message,
	"seen": null,
	"expected": null,
	"undecided": true,
}

violation(path, message, seen, expected) := {
	"path": array.concat(["spec"], path),
	"message": message,
	"seen": seen,
	"expected": expected,
}

number(value, path) := found if {
	found := fields.get(value, path, null)
	is_number(found)
} else := 0

# Up to five of them, as a text.
some_of(names) := concat(", ", [name | some i, name in names; i < 5; is_string(name)])

# Does a name fit one of the patterns? Capitals don't matter; * stands for anything, all else for itself.
fits(name, patterns) if {
	some pattern in patterns
	glob.match(strings.replace_n(literal, lower(pattern)), null, lower(name))
} else := false

literal := {`\`: `\\`, "?": `\?`, "[": `\[`, "]": `\]`, "{": `\{`, "}": `\}`}

# Was something put aside, and is every source of that believed? What a tool found and somebody else put aside is found.
believed(entries, sources) if {
	count(entries) > 0
	every entry in entries {
		fields.text(entry, ["status"]) != ""
		some source in split(fields.text(entry, ["source"]), ", ")
		fits(source, sources)
	}
} else := false

# Share in percent; nothing of nothing is none.
percent(part, whole) := (100 * part) / whole if {
	whole > 0
} else := 0

# Was the content read? If not, nothing but the format can be judged.
read if fields.text(spec, ["content", "status"]) == "read"

why_unread := reason if {
	reason := fields.text(spec, ["content", "reason"])
	reason != ""
} else := "the facts say nothing about its content"

# What an invalid document says is read as far as it goes: what is wrong with it stands, what is right with it is not known.
broken if not fields.text(spec, ["format", "status"]) in {"valid", "unknown"}

of_a_broken_document := {undecided(["format", "status"], "the document is not valid, so that nothing in it is certain")} if {
	read
	broken
} else := set()
