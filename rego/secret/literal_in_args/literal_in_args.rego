# METADATA
# scope: package
# title: No command line holds a literal secret
# description: |
#   Arguments are visible in process lists, in the object and in its repository. Looks at command, args, the script
#   of a workflow step, and the commands and headers of probes and hooks. The reader replaced the value by a marker; the finding says where it
#   is, never what it is.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/secret/
#   - ref: https://kubernetes.io/docs/concepts/security/secrets-good-practices/
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_container
#   remediation: >-
#     Move the value into a Secret, pass it by file or variable, and rotate it: it has been seen.
#   fix: |
#     args: ["--api-key-file=/run/secrets/hub/token"]
package secret.literal_in_args

import data.lib.redaction
import data.lib.workload

default applies := false

applies if count(workload.containers) > 0

violations contains v if {
	some c in workload.containers
	some field in ["args", "command"]
	some i, text in c.value[field]
	is_string(text)
	contains(text, redaction.marker)
	v := violation(c, [field, i], text)
}

# An Argo script container carries its program in one text.
violations contains v if {
	some c in workload.containers
	is_string(c.value.source)
	contains(c.value.source, redaction.marker)
	v := violation(c, ["source"], c.value.source)
}

violations contains v if {
	some c in workload.containers
	some probe in ["livenessProbe", "readinessProbe", "startupProbe"]
	some found in hidden(c.value[probe])
	v := violation(c, array.concat([probe], found.path), found.text)
}

violations contains v if {
	some c in workload.containers
	some hook, handler in c.value.lifecycle
	some found in hidden(handler)
	v := violation(c, array.concat(["lifecycle", hook], found.path), found.text)
}

# In a handler's command and headers.
hidden(handler) := array.concat(
	[{"path": ["exec", "command", i], "text": text} |
		some i, text in handler.exec.command
		is_string(text)
		contains(text, redaction.marker)
	],
	[{"path": ["httpGet", "httpHeaders", i, "value"], "text": header.value} |
		some i, header in handler.httpGet.httpHeaders
		is_string(header.value)
		contains(header.value, redaction.marker)
	],
)

violation(c, path, text) := {
	"path": array.concat(c.path, path),
	"message": sprintf("container %s: %s holds a literal secret (%s)", [c.name, path[0], redaction.reason(text)]),
	"seen": redaction.only(text),
	"expected": "a file or a reference to a Secret",
	"container": c.name,
}
