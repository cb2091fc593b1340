# METADATA
# title: Facts of results, for tests
package lib.results

result(kind, spec) := {"apiVersion": "artifacts.fleetaudit.dev/v1", "kind": kind, "metadata": {"name": "result.json"}, "spec": spec}

made(status, days) := {"status": status, "value": "2026-01-01T00:00:00Z", "age_days": days}

# Something is wrong, and not only unknown.
decided(violations) if {
	some v in violations
	not v.undecided
} else := false

undecided(violations) if {
	count(violations) > 0
	every v in violations {
		v.undecided == true
	}
} else := false
