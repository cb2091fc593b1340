package resources.requests_set_test

import data.lib.testing
import data.resources.requests_set

requests(value) := {"resources": {"requests": value}}

good := requests({"cpu": "1", "memory": "1Gi"})

test_passes if {
	subject := testing.pod(testing.every_type(good))
	requests_set.applies with input as subject
	requests_set.violations == set() with input as subject
}

test_ephemeral_containers_are_not_asked if {
	violations := requests_set.violations with input as testing.pod(testing.every_type({}))
	testing.names(violations) == {"main", "init", "sidecar"}
	count(violations) == 6
}

test_a_limit_counts if {
	requests_set.violations == set() with input as testing.pod(testing.every_type({"resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}))
}

test_what_asks_for_nothing_is_no_request if {
	every value in ["0", 0, "0m", "m", "-1", "lots", "1 ", true, [1]] {
		subject := testing.pod({"containers": [object.union({"name": "a"}, requests({"cpu": value, "memory": value}))]})
		count(requests_set.violations) == 2 with input as subject
		limited := testing.pod({"containers": [{"name": "a", "resources": {"requests": {"cpu": value, "memory": value}, "limits": {"cpu": 1, "memory": "1Gi"}}}]})
		count(requests_set.violations) == 2 with input as limited
		only_limit := testing.pod({"containers": [{"name": "a", "resources": {"limits": {"cpu": value, "memory": value}}}]})
		count(requests_set.violations) == 2 with input as only_limit
	}
}

test_resources_of_the_whole_pod_count if {
	every kind in ["requests", "limits"] {
		spec := object.union({"resources": {kind: {"cpu": 4, "memory": "8Gi"}}}, testing.every_type({}))
		requests_set.violations == set() with input as testing.pod(spec)
	}
}

test_nested_templates if {
	violations := requests_set.violations with input as testing.ray_cluster({"containers": [object.union({"name": "h"}, good)]}, {"containers": [{"name": "w", "resources": {"requests": {"cpu": "1"}}}]})
	testing.paths(violations) == {"spec.workerGroupSpecs.0.template.spec.containers.0.resources.requests.memory"}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, good)]})
	container := ["spec", "containers", 0]
	every variant in testing.dropped(subject, [
		array.concat(container, ["resources"]),
		array.concat(container, ["resources", "requests"]),
	]) {
		count(requests_set.violations) == 2 with input as variant
		requests_set.applies with input as variant
	}
	every name in ["cpu", "memory"] {
		every variant in testing.dropped(subject, [array.concat(container, ["resources", "requests", name])]) {
			violations := requests_set.violations with input as variant
			testing.paths(violations) == {concat("", ["spec.containers.0.resources.requests.", name])}
		}
	}
}

test_a_model_is_not_asked if {
	requests_set.applies == false with input as testing.inference_service({"model": {"args": []}})
}

test_no_pod_no_question if {
	requests_set.applies == false with input as testing.config_map
	requests_set.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
