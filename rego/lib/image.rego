# METADATA
# title: Image references
# description: |
#   parse(value) always answers {"valid": bool, "registry", "repository", "tag", "digest", "reason"}, by the grammar of
#   distribution/reference: a missing registry is docker.io, a missing tag without digest is latest, tag is null with a
#   digest alone and digest is null without one. An invalid reference has empty strings and a reason.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-names
package lib.image

import data.lib.workload

parse(value) := parsed(value) if {
	is_string(value)
	value != ""
	parsed(value)
} else := {"valid": false, "registry": "", "repository": "", "tag": "", "digest": "", "reason": reason(value)}

parsed(text) := {
	"valid": true,
	"registry": name.registry,
	"repository": name.repository,
	"tag": tag(parts[2], parts[3]),
	"digest": digest(parts[3]),
	"reason": "",
} if {
	parts := regex.find_all_string_submatch_n(reference_pattern, text, 1)[0]
	digest_valid(parts[3])
	name := named(parts[1])
	count(name.repository) <= 255
	not regex.match(`^[a-f0-9]{64}$`, text)
}

# The first part of a name is a registry when it could not be a path: with a dot, a port or a capital, or localhost.
named(name) := {"registry": "docker.io", "repository": concat("/", ["library", name])} if {
	not contains(name, "/")
	lower(name) == name
	not contains(name, ":")
} else := {"registry": "docker.io", "repository": hub_repository(rest)} if {
	slash := indexof(name, "/")
	hub[substring(name, 0, slash)]
	rest := substring(name, slash + 1, -1)
	lower(rest) == rest
} else := {"registry": first, "repository": rest} if {
	slash := indexof(name, "/")
	first := substring(name, 0, slash)
	is_registry(first)
	rest := substring(name, slash + 1, -1)
	regex.match(path_pattern, rest)
} else := {"registry": "docker.io", "repository": name} if {
	contains(name, "/")
	regex.match(path_pattern, name)
}

hub := {"docker.io", "index.docker.io"}

hub_repository(rest) := rest if {
	contains(rest, "/")
} else := concat("/", ["library", rest])

is_registry("localhost")

is_registry(first) if contains(first, ".")

is_registry(first) if contains(first, ":")

is_registry(first) if lower(first) != first

tag("", "") := "latest"

tag("", found) := null if found != ""

tag(found, _) := found if found != ""

digest("") := null

digest(found) := found if found != ""

# The algorithms the reference library knows, each with its own length.
digest_valid("")

digest_valid(found) if regex.match(`^(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`, found)

reason(value) := "missing" if {
	value == null
} else := "missing" if {
	value == ""
} else := "not text" if {
	not is_string(value)
} else := "template that nothing has filled in" if {
	regex.match(`\$\(|\$\{|\{\{`, value)
} else := "not a valid image reference"

path_pattern := `^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`

# name, tag, digest; the name is looked at again by named().
reference_pattern := `^((?:(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`

# Every container that names an image, or should: {"container", "image"} with the parsed reference. Once per object.
used := [{"container": c, "image": parse(object.get(c.value, "image", null))} |
	some c in workload.containers
	workload.judged(c, object.get(c.value, "image", null))
]

# The violation of a reference that can't be parsed: image/valid-reference says why, and no other rule lets it pass.
unreadable(c) := {
	"path": array.concat(c.path, ["image"]),
	"message": sprintf("container %s: image reference can't be parsed", [c.name]),
	"seen": object.get(c.value, "image", null),
	"expected": "a valid image reference",
	"container": c.name,
}
