# METADATA
# title: Ages of evidence
# description: |
#   Facts give a time as {"status": "known", "absent", "unreadable" or "future", "value", "age_days"}. Only a known one can be judged,
#   and one in the future is wrong.
package lib.age

import data.lib.evidence
import data.lib.object as fields

too_old(path, max_days) := {v} if {
	time(path).status == "future"
	v := evidence.violation(path, "the time lies in the future", time(path).value, "a time in the past")
} else := {v} if {
	time(path).status == "known"
	time(path).age_days > max_days
	said := sprintf("%v days old, %v are allowed", [time(path).age_days, max_days])
	v := evidence.violation(path, said, time(path).value, null)
} else := set() if {
	time(path).status == "known"
} else := {evidence.undecided(path, sprintf("its time is %s", [time(path).status]))}

# Known only with an age beside it.
time(path) := {"status": status, "value": fields.get(found, ["value"], null), "age_days": evidence.number(found, ["age_days"])} if {
	found := fields.mapping(evidence.spec, path)
	status := fields.text(found, ["status"])
	stated(found, status)
} else := {"status": "absent", "value": null, "age_days": 0}

stated(found, "known") if is_number(object.get(found, "age_days", null))

stated(_, status) if status in {"absent", "unreadable", "future"}
