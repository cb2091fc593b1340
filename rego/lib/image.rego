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
} else := {"valid": false, "registry": "", "repository": "", "tag": "", "digest": "", "reason": reason(value)}

parsed(text) := {
	"valid": true,
	"registry": name.registry,
	"repository": name.repository,
	"tag": tag(parts[3], parts[4]),
	"digest": digest(parts[4]),
	"reason": "",
} if {
	parts := regex.find_all_string_submatch_n(reference_pattern, text, 1)[0]
	name := named(parts[1], parts[2], text)
	count(name.repository) <= 255
} else := {"valid": false, "registry": "", "repository": "", "tag": "", "digest": "", "reason": reason(text)}

# The first part of a name is a registry when it could not be a path: with a dot, a port or a capital, or localhost. A bare
# name of 64 hexadecimal digits is an image id, not a reference.
named("", path, text) := {"registry": "docker.io", "repository": concat("/", ["library", path])} if {
	not regex.match(`^[a-f0-9]{64}$`, text)
}

named(first, path, _) := {"registry": "docker.io", "repository": hub_repository(path)} if {
	hub[first]
} else := {"registry": first, "repository": path} if {
	first != ""
	regex.match(`[.:A-Z]|^localhost$`, first)
} else := {"registry": "docker.io", "repository": concat("/", [first, path])} if {
	regex.match(`^[a-z0-9]+(?:(?:_|__|-+)[a-z0-9]+)*$`, first)
}

hub := {"docker.io", "index.docker.io"}

hub_repository(path) := path if {
	contains(path, "/")
} else := concat("/", ["library", path])

tag("", "") := "latest"

tag("", found) := null if found != ""

tag(found, _) := found if found != ""

digest("") := null

digest(found) := found if found != ""

reason(value) := "missing" if {
	value == null
} else := "missing" if {
	value == ""
} else := "not text" if {
	not is_string(value)
} else := "template that nothing has filled in" if {
	regex.match(`\$\(|\$\{|\{\{`, value)
} else := "not a valid image reference"

# registry or first part of the path, rest of the path, tag, digest; the digest by the three algorithms that the reference
# library knows, each with its own length.
reference_pattern := `^(?:((?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?|[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)/)?([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}))?$`

# Every container that names an image, or should: {"container", "image"} with the parsed reference. Once per object.
used := [{"container": c, "image": parse(object.get(c.value, "image", null))} |
	some c in workload.containers
	workload.judged(c, object.get(c.value, "image", null))
]

# Those that can be read, those that can't, and those that go by a tag of image/mutable-tag's parameter.
readable := [entry | some entry in used; entry.image.valid]

unreadable := [entry | some entry in used; not entry.image.valid]

moving := [entry |
	some entry in readable
	entry.image.tag in data.parameters["image/mutable-tag"].mutable_tags
	entry.image.digest == null
]

# The violation of a reference that can't be parsed: image/valid-reference says why, and no other rule lets it pass.
violation_of(entry) := {
	"path": array.concat(entry.container.path, ["image"]),
	"message": sprintf("container %s: image reference can't be parsed", [entry.container.name]),
	"seen": object.get(entry.container.value, "image", null),
	"expected": "a valid image reference",
	"container": entry.container.name,
}
