package resources.quantity_slip_test

import data.lib.testing
import data.resources.quantity_slip

with_value(kind, name, value) := testing.pod({"containers": [{"name": "a", "resources": {kind: {name: value}}}]})

slips := [
	["memory", "3500m"], ["memory", 512], ["memory", "1023Ki"], ["memory", "Gi"], ["memory", "."], ["memory", "1GB"],
	["memory", "1gi"], ["memory", "1 Gi"], ["memory", "-1Gi"], ["memory", true], ["ephemeral-storage", "100m"],
	["cpu", "0.0001"], ["cpu", "500n"], ["cpu", 2000], ["cpu", "513"], ["cpu", "1K"], ["nvidia.com/gpu", "one"],
]

fine := [
	["memory", "1Gi"], ["memory", "1024Mi"], ["memory", "1288490188800m"], ["memory", "129e6"], ["memory", 1048576],
	["memory", "0"], ["memory", 0], ["cpu", "100m"], ["cpu", 0.1], ["cpu", "512"], ["cpu", "1m"], ["nvidia.com/gpu", 1],
	["memory", null], ["memory", ""],
]

test_slips if {
	every pair in slips {
		every kind in ["requests", "limits"] {
			quantity_slip.applies with input as with_value(kind, pair[0], pair[1])
			violations := quantity_slip.violations with input as with_value(kind, pair[0], pair[1])
			testing.paths(violations) == {concat(".", ["spec.containers.0.resources", kind, pair[0]])}
		}
	}
}

test_passes if {
	every pair in fine {
		quantity_slip.violations == set() with input as with_value("limits", pair[0], pair[1])
		quantity_slip.applies with input as with_value("limits", pair[0], pair[1])
	}
}

test_containers_of_every_type if {
	violations := quantity_slip.violations with input as testing.pod(testing.every_type({"resources": {"limits": {"memory": "1m"}}}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_the_whole_pod if {
	violations := quantity_slip.violations with input as testing.cron_job({"resources": {"limits": {"memory": "1m"}}})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.resources.limits.memory"}
}

test_a_model_too if {
	count(quantity_slip.violations) == 1 with input as testing.inference_service({"model": {"resources": {"limits": {"memory": "8GB"}}}})
}

test_parameter if {
	parameters := {"resources/quantity-slip": {"max_cpu": 64}}
	count(quantity_slip.violations) == 1 with input as with_value("limits", "cpu", 65) with data.parameters as parameters
}

test_dropped_fields if {
	resources := ["spec", "containers", 0, "resources"]
	every variant in testing.dropped(with_value("limits", "memory", "1m"), [resources, array.concat(resources, ["limits"])]) {
		quantity_slip.violations == set() with input as variant
		quantity_slip.applies == false with input as variant
	}
	every variant in testing.dropped(with_value("limits", "memory", "1m"), [array.concat(resources, ["limits", "memory"])]) {
		quantity_slip.violations == set() with input as variant
	}
}

test_no_pod_no_question if {
	quantity_slip.applies == false with input as testing.config_map
	quantity_slip.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
