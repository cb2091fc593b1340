# METADATA
# scope: package
# title: No ConfigMap holds a literal secret
# description: |
#   A ConfigMap is readable for many more people and programs than a Secret, is not encrypted at rest by the usual
#   settings, and is often printed. The reader replaced the value by a marker; the finding says where it is, never
#   what it is.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/configmap/
#   - ref: https://kubernetes.io/docs/concepts/security/secrets-good-practices/
# custom:
#   severity: high
#   match: {kinds: [{group: "", kinds: [ConfigMap]}]}
#   not_applicable: no_data
#   remediation: >-
#     Move the value into a Secret, and rotate it: it has been seen.
#   fix: |
#     apiVersion: v1
#     kind: Secret
#     metadata: {name: settings}
#     stringData: {api_key: "<from your secret store>"}
package secret.literal_in_configmap

import data.lib.object as obj
import data.lib.redaction

default applies := false

applies if {
	some field in ["data", "binaryData"]
	not obj.absent(obj.get(input, [field], null))
}

violations contains v if {
	some field in ["data", "binaryData"]
	some key, text in input[field]
	is_string(text)
	contains(text, redaction.marker)
	v := {
		"path": [field, key],
		"message": sprintf("key %s holds a literal secret (%s)", [key, redaction.reason(text)]),
		"seen": redaction.only(text),
		"expected": "a Secret",
	}
}
