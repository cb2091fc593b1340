package availability.disruption_budget_blocks_test

import data.availability.disruption_budget_blocks
import data.lib.testing

budget(spec) := {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ml"}, "spec": spec}

test_passes if {
	every spec in [{"maxUnavailable": 1}, {"maxUnavailable": "10%"}, {"minAvailable": "99%"}, {"minAvailable": 1}, {"minAvailable": 0}, {"minAvailable": "0%"}] {
		disruption_budget_blocks.applies with input as budget(spec)
		disruption_budget_blocks.violations == set() with input as budget(spec)
	}
}

test_fails if {
	every value in [0, "0", "0%"] {
		violations := disruption_budget_blocks.violations with input as budget({"maxUnavailable": value})
		testing.paths(violations) == {"spec.maxUnavailable"}
	}
	every value in ["100%", "150%"] {
		violations := disruption_budget_blocks.violations with input as budget({"minAvailable": value})
		testing.paths(violations) == {"spec.minAvailable"}
	}
}

test_dropped_fields if {
	every subject in testing.dropped(budget({"maxUnavailable": 1}), [["spec"], ["spec", "maxUnavailable"]]) {
		disruption_budget_blocks.applies with input as subject
		count(disruption_budget_blocks.violations) == 1 with input as subject
	}
	every subject in testing.dropped(budget({"minAvailable": 1}), [["spec"], ["spec", "minAvailable"]]) {
		count(disruption_budget_blocks.violations) == 1 with input as subject
	}
}
