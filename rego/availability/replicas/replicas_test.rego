package availability.replicas_test

import data.availability.replicas
import data.lib.testing

workload(kind, replicas) := {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "d", "namespace": "ml"}, "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "a"}]}}}}

hpa(minimum) := {"autoscaling/HorizontalPodAutoscaler": {"ml": [{"metadata": {"name": "h", "namespace": "ml"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": minimum}}]}}

keda(minimum) := {"keda.sh/ScaledObject": {"ml": [{"metadata": {"name": "k", "namespace": "ml"}, "spec": {"scaleTargetRef": {"name": "d"}, "minReplicaCount": minimum}}]}}

test_passes if {
	every kind in ["Deployment", "StatefulSet"] {
		replicas.applies with input as workload(kind, 2) with data.inventory as {}
		replicas.violations == set() with input as workload(kind, 2) with data.inventory as {}
	}
}

test_fails if {
	violations := replicas.violations with input as workload("Deployment", 1) with data.inventory as {}
	testing.paths(violations) == {"spec.replicas"}
}

test_autoscaler_decides if {
	replicas.violations == set() with input as workload("Deployment", null) with data.inventory as hpa(3)
	replicas.violations == set() with input as workload("Deployment", 1) with data.inventory as keda(2)
	count(replicas.violations) == 1 with input as workload("Deployment", 5) with data.inventory as hpa(1)
	count(replicas.violations) == 1 with input as workload("StatefulSet", 1) with data.inventory as hpa(3)
}

test_scaled_to_zero_is_not_asked if {
	replicas.applies == false with input as workload("Deployment", 0) with data.inventory as {}
	replicas.applies == false with input as workload("Deployment", 5) with data.inventory as keda(0)
}

test_parameter if {
	count(replicas.violations) == 1 with input as workload("Deployment", 2) with data.inventory as {} with data.parameters as {"availability/replicas": {"min_replicas": 3}}
}

test_dropped_fields if {
	every subject in testing.dropped(workload("Deployment", 2), [["spec", "replicas"], ["spec"]]) {
		replicas.applies with input as subject with data.inventory as {}
		count(replicas.violations) == 1 with input as subject with data.inventory as {}
	}
	every value in ["2", true] {
		count(replicas.violations) == 1 with input as workload("Deployment", value) with data.inventory as {}
	}
	item := ["autoscaling/HorizontalPodAutoscaler", "ml", 0]
	every inventory in testing.dropped(hpa(3), [
		item,
		array.concat(item, ["spec"]),
		array.concat(item, ["spec", "scaleTargetRef"]),
		array.concat(item, ["spec", "scaleTargetRef", "name"]),
		array.concat(item, ["spec", "minReplicas"]),
	]) {
		count(replicas.violations) == 1 with input as workload("Deployment", 1) with data.inventory as inventory
	}
}
