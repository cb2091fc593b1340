package availability.disruption_budget_test

import data.availability.disruption_budget
import data.lib.testing

workload(kind, replicas) := {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "d", "namespace": "ml"}, "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "a"}]}}}}

hpa(minimum) := {"autoscaling/HorizontalPodAutoscaler": {"ml": [{"metadata": {"name": "h", "namespace": "ml"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": minimum}}]}}

keda(minimum) := {"keda.sh/ScaledObject": {"ml": [{"metadata": {"name": "k", "namespace": "ml"}, "spec": {"scaleTargetRef": {"name": "d"}, "minReplicaCount": minimum}}]}}

budget(selector) := stating(object.union({"maxUnavailable": 1}, {"selector": selector}))

stating(spec) := {"policy/PodDisruptionBudget": {"ml": [{"metadata": {"name": "b", "namespace": "ml"}, "spec": spec}]}}

good := budget({"matchLabels": {"app": "d"}})

test_passes if {
	every selector in [{"matchLabels": {"app": "d"}}, {}, {"matchExpressions": [{"key": "app", "operator": "In", "values": ["d", "e"]}]}] {
		disruption_budget.applies with input as workload("Deployment", 2) with data.inventory as budget(selector)
		disruption_budget.violations == set() with input as workload("Deployment", 2) with data.inventory as budget(selector)
	}
}

test_fails if {
	every inventory in [
		{}, {"policy/PodDisruptionBudget": {"other": good["policy/PodDisruptionBudget"].ml}}, budget({"matchLabels": {"app": "x"}}), budget(null),
		budget({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), budget({"matchExpressions": [{"key": "app"}]}),
	] {
		violations := disruption_budget.violations with input as workload("Deployment", 2) with data.inventory as inventory
		testing.paths(violations) == {"spec.template.metadata.labels"}
	}
}

test_what_a_budget_must_keep if {
	all := {"selector": {}}
	every spec in [{"maxUnavailable": 1}, {"maxUnavailable": 0}, {"maxUnavailable": "50%"}, {"minAvailable": 1}, {"minAvailable": "1%"}, {"minAvailable": "50%"}] {
		disruption_budget.violations == set() with input as workload("Deployment", 2) with data.inventory as stating(object.union(all, spec))
	}
	every spec in [
		{},
		{"maxUnavailable": 2},
		{"maxUnavailable": "51%"},
		{"maxUnavailable": "100%"},
		{"minAvailable": 0},
		{"minAvailable": "0%"},
		{"minAvailable": null},
		{"maxUnavailable": "", "minAvailable": ""},
		{"maxUnavailable": "100%", "minAvailable": 1},
		{"minAvailable": "lots"},
	] {
		count(disruption_budget.violations) == 1 with input as workload("Deployment", 2) with data.inventory as stating(object.union(all, spec))
	}
	disruption_budget.violations == set() with input as workload("Deployment", 3) with data.inventory as stating({"selector": {}, "maxUnavailable": 2})
}

test_one_replica_no_question if {
	disruption_budget.applies == false with input as workload("Deployment", 1) with data.inventory as {}
	disruption_budget.applies with input as workload("Deployment", 1) with data.inventory as hpa(2)
	disruption_budget.applies == false with input as workload("Deployment", 5) with data.inventory as keda(1)
}

test_dropped_fields if {
	every subject in testing.dropped(workload("Deployment", 2), [["spec", "template", "metadata"], ["spec", "template", "metadata", "labels"]]) {
		disruption_budget.applies with input as subject with data.inventory as good
		count(disruption_budget.violations) == 1 with input as subject with data.inventory as good
	}
	every subject in testing.dropped(workload("Deployment", 2), [["spec"], ["spec", "replicas"]]) {
		disruption_budget.applies == false with input as subject with data.inventory as good
	}
	every subject in testing.dropped(workload("Deployment", 2), [["metadata"], ["metadata", "namespace"]]) {
		count(disruption_budget.violations) == 1 with input as subject with data.inventory as good
	}
	item := ["policy/PodDisruptionBudget", "ml", 0]
	every inventory in testing.dropped(good, [item, array.concat(item, ["spec"])]) {
		count(disruption_budget.violations) == 1 with input as workload("Deployment", 2) with data.inventory as inventory
	}

	# An empty selector chooses everything, a missing one nothing.
	every value in [null, "", []] {
		count(disruption_budget.violations) == 1 with input as workload("Deployment", 2) with data.inventory as budget(value)
	}
}
