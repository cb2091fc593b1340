# METADATA
# title: Markers in place of redacted values
# description: |
#   The reader replaces what looks like a secret by fleetaudit:redacted:<reason>:<length class> before any rule sees it.
package lib.redaction

marker := "fleetaudit:redacted:"

# Why the value was taken out, or "" when the text holds no marker.
reason(text) := parts[1] if {
	parts := regex.find_all_string_submatch_n(pattern, text, 1)[0]
} else := ""

# The marker alone: what stands around it is not repeated.
only(text) := parts[0] if {
	parts := regex.find_all_string_submatch_n(pattern, text, 1)[0]
} else := marker

pattern := `fleetaudit:redacted:([a-z_]+)(?::[0-9+-]+)?`
