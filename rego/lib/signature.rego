# METADATA
# title: Facts of signatures
# description: |
#   Every fact about a signature has a status: verified, wrong_identity, invalid, could_not_check or unsigned, with a code and a message.
#   Only the first is good. A status that is missing, or another word, is not known.
package lib.signature

import data.lib.evidence
import data.lib.object as fields

status := fields.text(evidence.spec, ["status"])

code := fields.text(evidence.spec, ["code"])

# Somebody looked, and it is not good.
wrong if status in {"invalid", "wrong_identity", "unsigned"}

good if status == "verified"

message := found if {
	found := fields.text(evidence.spec, ["message"])
	found != ""
} else := "the facts say nothing about the signature"

# Who has signed, as a short text; null when nobody knows.
signer(identity) := sprintf("%s (%s)", [subject, fields.text(identity, ["issuer"])]) if {
	subject := fields.text(identity, ["subject"])
	subject != ""
} else := sprintf("key %s", [name]) if {
	name := fields.text(identity, ["key_name"])
	name != ""
} else := sprintf("key sha256:%s", [digest]) if {
	digest := fields.text(identity, ["key", "sha256"])
	digest != ""
} else := null

verdict(expected) := {evidence.violation(["status"], message, code, expected)} if {
	wrong
} else := set() if {
	good
} else := {evidence.undecided(["status"], message)}
