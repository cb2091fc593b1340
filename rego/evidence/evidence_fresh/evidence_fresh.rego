# METADATA
# scope: package
# title: Results are not too old
# description: |
#   A scan, a benchmark, a test run or a score says how things were then. The time of the result must be known, lie in the past and not be
#   longer ago than the parameter says for its kind. kube-bench writes no time into its results, which are undecided unless the
#   parameter stated_times says when they were made.
# related_resources:
#   - ref: https://csrc.nist.gov/pubs/sp/800/137/final
# custom:
#   severity: medium
#   match:
#     kinds:
#       - group: artifacts.fleetaudit.dev
#         kinds: [ScorecardResult, TestGridSummary, BenchmarkResult, VulnerabilityReport]
#   not_applicable: no_time_facts
#   remediation: Run the tool again, on a schedule.
package evidence.evidence_fresh

import data.lib.age
import data.lib.evidence
import data.lib.object as fields

default applies := false

applies if is_object(input)

limit := days if {
	days := fields.get(data.parameters["evidence/evidence-fresh"].max_age_days, [fields.text(input, ["kind"])], null)
	is_number(days)
}

violations contains v if {
	some v in age.too_old(["created"], limit)
}

violations contains evidence.undecided(["created"], "no age is set for this kind") if not limit
