package resources.memory_limit_test

import data.lib.testing
import data.resources.memory_limit

good := {"resources": {"limits": {"memory": "1Gi"}}}

test_passes if {
	subject := testing.pod(testing.every_type(good))
	memory_limit.applies with input as subject
	memory_limit.violations == set() with input as subject
}

test_ephemeral_containers_are_not_asked if {
	violations := memory_limit.violations with input as testing.pod(testing.every_type({"resources": {"requests": {"memory": "1Gi"}}}))
	testing.names(violations) == {"main", "init", "sidecar"}
}

test_limit_of_the_whole_pod_counts if {
	memory_limit.violations == set() with input as testing.pod(object.union(good, testing.every_type({})))
}

test_nested_template if {
	violations := memory_limit.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.resources.limits.memory"}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, good)]})
	resources := ["spec", "containers", 0, "resources"]
	every variant in testing.dropped(subject, [resources, array.concat(resources, ["limits"]), array.concat(resources, ["limits", "memory"])]) {
		count(memory_limit.violations) == 1 with input as variant
		memory_limit.applies with input as variant
	}
	every variant in testing.dropped(testing.pod(object.union(good, {"containers": [{"name": "a"}]})), [["spec", "resources"], ["spec", "resources", "limits"]]) {
		count(memory_limit.violations) == 1 with input as variant
	}
}

no_limits := ["0", 0, "0Gi", "00", "Gi", ".", "-1Gi", -1, "lots", "1GB", true, [1], {"a": 1}]

test_what_limits_nothing_is_no_limit if {
	every value in no_limits {
		limits := {"resources": {"limits": {"memory": value}}}
		violations := memory_limit.violations with input as testing.pod(testing.every_type(limits))
		testing.names(violations) == {"main", "init", "sidecar"}
		{v.seen | some v in violations} == {value}
		count(memory_limit.violations) == 1 with input as testing.pod(object.union(limits, {"containers": [{"name": "a"}]}))
		memory_limit.violations == set() with input as testing.pod(object.union(good, {"containers": [object.union({"name": "a"}, limits)]}))
	}
}

test_every_spelling_of_a_limit if {
	every value in ["1Gi", "1024Mi", 1073741824, "1073741824", "1e9", "0.5Gi", "+2Gi", "128974848000m"] {
		memory_limit.violations == set() with input as testing.pod(testing.every_type({"resources": {"limits": {"memory": value}}}))
	}
}

test_a_model_is_not_asked if {
	memory_limit.applies == false with input as testing.inference_service({"model": {"args": []}})
}

test_no_pod_no_question if {
	memory_limit.applies == false with input as testing.config_map
	memory_limit.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
