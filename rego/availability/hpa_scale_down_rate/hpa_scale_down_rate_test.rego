package availability.hpa_scale_down_rate_test

import data.availability.hpa_scale_down_rate
import data.lib.testing

hpa(scale_down) := {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": {"minReplicas": 10, "behavior": {"scaleDown": scale_down}}}

policy(kind, value, period) := {"type": kind, "value": value, "periodSeconds": period}

slow := [policy("Percent", 20, 60), policy("Percent", 5, 15), policy("Percent", 20, 300), policy("Pods", 2, 60), policy("Pods", 1, 90), policy("Percent", 10, 45)]

fast := [policy("Percent", 21, 60), policy("Percent", 100, 15), policy("Percent", 100, 600), policy("Percent", 10, 15), policy("Pods", 3, 60), policy("Pods", 1, 15), policy("Percent", 11, 45)]

test_passes if {
	every item in slow {
		hpa_scale_down_rate.applies with input as hpa({"policies": [item]})
		hpa_scale_down_rate.violations == set() with input as hpa({"policies": [item]})
	}
	hpa_scale_down_rate.violations == set() with input as hpa({"selectPolicy": "Disabled"})
	hpa_scale_down_rate.violations == set() with input as hpa({"selectPolicy": "Min", "policies": [fast[0], slow[0]]})
}

test_fails if {
	every item in fast {
		violations := hpa_scale_down_rate.violations with input as hpa({"policies": [item]})
		testing.paths(violations) == {"spec.behavior.scaleDown.policies.0"}
	}
	violations := hpa_scale_down_rate.violations with input as hpa({"policies": [slow[0], fast[0]]})
	testing.paths(violations) == {"spec.behavior.scaleDown.policies.1"}
	count(hpa_scale_down_rate.violations) == 1 with input as hpa({"selectPolicy": "Min", "policies": fast})
}

test_one_pod_a_minute_is_slow_enough_for_small_ones if {
	subject := {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"behavior": {"scaleDown": {"policies": [policy("Pods", 1, 60)]}}}}
	hpa_scale_down_rate.violations == set() with input as subject
}

test_scaled_object if {
	config := {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"policies": [policy("Percent", 20, 60)]}}}}
	hpa_scale_down_rate.violations == set() with input as {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": {"advanced": config}}
	violations := hpa_scale_down_rate.violations with input as {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": {}}
	testing.paths(violations) == {"spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.policies"}
}

test_parameter if {
	parameters := {"availability/hpa-scale-down-rate": {"max_percent_per_minute": 50}}
	hpa_scale_down_rate.violations == set() with input as hpa({"policies": [policy("Percent", 50, 60)]}) with data.parameters as parameters
}

test_dropped_fields if {
	good := hpa({"policies": [policy("Percent", 20, 60)]})
	path := ["spec", "behavior"]
	item := ["spec", "behavior", "scaleDown", "policies", 0]
	every subject in testing.dropped(good, [
		["spec"],
		path,
		array.concat(path, ["scaleDown"]),
		array.concat(path, ["scaleDown", "policies"]),
		item,
		array.concat(item, ["type"]),
		array.concat(item, ["value"]),
		array.concat(item, ["periodSeconds"]),
	]) {
		hpa_scale_down_rate.applies with input as subject
		count(hpa_scale_down_rate.violations) == 1 with input as subject
	}
	every value in ["20", true] {
		count(hpa_scale_down_rate.violations) == 1 with input as hpa({"policies": [policy("Percent", value, 60)]})
		count(hpa_scale_down_rate.violations) == 1 with input as hpa({"policies": [policy("Percent", 20, value)]})
	}
	count(hpa_scale_down_rate.violations) == 1 with input as hpa({"policies": [policy("Percent", 20, 0)]})
	every subject in testing.dropped(hpa({"policies": [policy("Pods", 2, 60)]}), [["spec", "minReplicas"]]) {
		count(hpa_scale_down_rate.violations) == 1 with input as subject
	}
}
