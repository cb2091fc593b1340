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
	name := split_name(parts[1], parts[2], text)
	count(name.repository) <= 255
} else := {"valid": false, "registry": "", "repository": "", "tag": "", "digest": "", "reason": reason(text)}

# The first part of a name is a registry when it could not be a path: with a dot, a port or a capital, or localhost. A bare
# name of 64 hexadecimal digits is an image id, not a reference.
split_name("", path, text) := {"registry": "docker.io", "repository": concat("/", ["library", path])} if {
	not regex.match(`^[a-f0-9]{64}$`, text)
}

split_name(first, path, _) := {"registry": "docker.io", "repository": hub_repository(path)} if {
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

# Every container that names an image, or should, and every volume that an image fills: {"kind", "name", "path", "value",
# "field", "policy", "image"}: the container or volume, where it stands, in it the paths of the reference and of the pull policy,
# and the parsed reference. Once per object.
used := array.concat(
	[entry |
		some c in workload.containers
		reference := object.get(c.value, "image", null)
		workload.judged(c, reference)
		entry := {
			"kind": "container",
			"name": c.name,
			"path": c.path,
			"value": c.value,
			"field": ["image"],
			"policy": ["imagePullPolicy"],
			"image": parse(reference),
		}
	],
	[entry |
		some volume in workload.volumes
		is_object(volume.value.image)
		entry := {
			"kind": "volume",
			"name": volume.name,
			"path": volume.path,
			"value": volume.value,
			"field": ["image", "reference"],
			"policy": ["image", "pullPolicy"],
			"image": parse(object.get(volume.value.image, "reference", null)),
		}
	],
)

# Those that can be read, those that can't, and those that go by a tag of image/mutable-tag's parameter.
readable := [entry | some entry in used; entry.image.valid]

unreadable := [entry | some entry in used; not entry.image.valid]

moving := [entry |
	some entry in readable
	entry.image.digest == null
	moves(entry.image.tag)
]

# A tag that is listed, or "latest" with something before or behind it: latest-cuda, v2-latest.
moves(tag) if tag in mutable_tags

moves(tag) if lower(tag) in mutable_tags

moves(tag) if {
	contains(lower(tag), "latest")
	"latest" in mutable_tags
	"latest" in regex.split(`[._-]`, lower(tag))
}

mutable_tags := data.parameters["image/mutable-tag"].mutable_tags

# The violation of one entry at a path in its container or volume; `said` goes behind its name.
violation(entry, field, said, expected) := object.union(named(entry.kind, entry.name), {
	"path": array.concat(entry.path, field),
	"message": sprintf("%s %s%s", [entry.kind, entry.name, said]),
	"seen": object.get(entry.value, field, null),
	"expected": expected,
})

named("container", name) := {"container": name}

named("volume", _) := {}

# The violation of a reference that can't be parsed: image/valid-reference says why, and no other rule lets it pass.
violation_of(entry) := violation(entry, entry.field, ": image reference can't be parsed", "a valid image reference")
