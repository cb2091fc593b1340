package lib.scaling_test

import data.lib.scaling

workload(replicas) := {"kind": "Deployment", "metadata": {"name": "d", "namespace": "ml"}, "spec": {"replicas": replicas}}

autoscaler(spec) := {"autoscaling/HorizontalPodAutoscaler": {"ml": [{"spec": spec}]}}

scaled_object(spec) := {"keda.sh/ScaledObject": {"ml": [{"spec": spec}]}}

test_declared if {
	scaling.minimum == 3 with input as workload(3) with data.inventory as {}
	scaling.minimum == 1 with input as workload(null) with data.inventory as {}
	scaling.minimum == 1 with input as workload("3") with data.inventory as {}
	scaling.minimum == 1 with input as {} with data.inventory as {}
	scaling.minimum == 0 with input as workload(0)
}

test_autoscaler if {
	target := {"kind": "Deployment", "name": "d"}
	scaling.minimum == 4 with input as workload(9) with data.inventory as autoscaler({"scaleTargetRef": target, "minReplicas": 4})
	scaling.minimum == 1 with input as workload(9) with data.inventory as autoscaler({"scaleTargetRef": target})
	every other in [{"kind": "StatefulSet", "name": "d"}, {"kind": "Deployment", "name": "x"}, {"kind": "Deployment"}, {"name": "d"}, null] {
		scaling.minimum == 9 with input as workload(9) with data.inventory as autoscaler({"scaleTargetRef": other, "minReplicas": 4})
	}
}

test_scaled_object if {
	every target in [{"name": "d"}, {"kind": "Deployment", "name": "d"}, {"kind": null, "name": "d"}] {
		scaling.minimum == 2 with input as workload(9) with data.inventory as scaled_object({"scaleTargetRef": target, "minReplicaCount": 2})
	}
	scaling.minimum == 0 with input as workload(9) with data.inventory as scaled_object({"scaleTargetRef": {"name": "d"}})
}

test_the_lowest_of_two if {
	both := object.union(
		autoscaler({"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": 4}),
		scaled_object({"scaleTargetRef": {"name": "d"}, "minReplicaCount": 2}),
	)
	scaling.minimum == 2 with input as workload(9) with data.inventory as both
}
