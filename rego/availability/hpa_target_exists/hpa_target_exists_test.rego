package availability.hpa_target_exists_test

import data.availability.hpa_target_exists
import data.lib.testing

hpa(reference) := {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h", "namespace": "ml"}, "spec": {"scaleTargetRef": reference}}

deployment := {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}

inventory := {
	"apps/Deployment": {"ml": [{"metadata": {"name": "d", "namespace": "ml"}}], "other": [{"metadata": {"name": "x"}}]},
	"argoproj.io/Rollout": {"ml": [{"metadata": {"name": "r"}}]},
	"ReplicationController": {"ml": [{"metadata": {"name": "c"}}]},
}

test_passes if {
	every reference in [
		deployment,
		{"kind": "Deployment", "name": "d"},
		{"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "r"},
		{"apiVersion": "v1", "kind": "ReplicationController", "name": "c"},
		{"kind": "ReplicationController", "name": "c"},
	] {
		hpa_target_exists.applies with input as hpa(reference) with data.inventory as inventory
		hpa_target_exists.violations == set() with input as hpa(reference) with data.inventory as inventory
	}
}

test_a_scaled_object_means_a_deployment if {
	subject := {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "k", "namespace": "ml"}, "spec": {"scaleTargetRef": {"name": "d"}}}
	hpa_target_exists.applies with input as subject with data.inventory as inventory
	hpa_target_exists.violations == set() with input as subject with data.inventory as inventory
	count(hpa_target_exists.violations) == 1 with input as subject with data.inventory as {}
}

test_fails if {
	every reference in [
		{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"},
		{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "d"},
		{"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "d"},
	] {
		violations := hpa_target_exists.violations with input as hpa(reference) with data.inventory as inventory
		testing.paths(violations) == {"spec.scaleTargetRef.name"}
	}
}

test_other_kinds_are_not_judged if {
	hpa_target_exists.applies == false with input as hpa({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "name": "i"}) with data.inventory as inventory
	hpa_target_exists.applies == false with input as hpa({"apiVersion": "extensions/v1beta1", "kind": "Deployment", "name": "d"}) with data.inventory as inventory
}

test_dropped_fields if {
	every subject in testing.dropped(hpa(deployment), [["spec"], ["spec", "scaleTargetRef"], ["spec", "scaleTargetRef", "name"]]) {
		hpa_target_exists.applies with input as subject with data.inventory as inventory
		count(hpa_target_exists.violations) == 1 with input as subject with data.inventory as inventory
	}
	every subject in testing.dropped(hpa(deployment), [["metadata"], ["metadata", "namespace"]]) {
		count(hpa_target_exists.violations) == 1 with input as subject with data.inventory as inventory
	}
	every changed in testing.dropped(inventory, [["apps/Deployment"], ["apps/Deployment", "ml"], ["apps/Deployment", "ml", 0], ["apps/Deployment", "ml", 0, "metadata"]]) {
		count(hpa_target_exists.violations) == 1 with input as hpa(deployment) with data.inventory as changed
	}
}
