package pod.capabilities_restricted_test

import data.lib.testing
import data.pod.capabilities_restricted

capabilities(drop, add) := {"securityContext": {"capabilities": {"drop": drop, "add": add}}}

good := capabilities(["ALL"], ["NET_BIND_SERVICE"])

test_passes if {
	subject := testing.pod(testing.every_type(good))
	capabilities_restricted.applies with input as subject
	capabilities_restricted.violations == set() with input as subject
	capabilities_restricted.violations == set() with input as testing.pod(testing.every_type(capabilities(["CHOWN", "ALL"], [])))
}

test_containers_of_every_type if {
	violations := capabilities_restricted.violations with input as testing.pod(testing.every_type({}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_path_of_what_is_missing if {
	violations := capabilities_restricted.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.capabilities.drop"}
}

test_additions if {
	violations := capabilities_restricted.violations with input as testing.pod({"containers": [object.union({"name": "a"}, capabilities(["ALL"], ["CHOWN"]))]})
	testing.paths(violations) == {"spec.containers.0.securityContext.capabilities.add.0"}
}

test_only_all_counts if {
	every drop in [["NET_RAW"], ["all"], [], null, "ALL"] {
		count(capabilities_restricted.violations) == 1 with input as testing.pod({"containers": [object.union({"name": "a"}, capabilities(drop, []))]})
	}
}

test_windows if {
	capabilities_restricted.applies == false with input as testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]})
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, good)]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [
		security,
		array.concat(security, ["capabilities"]),
		array.concat(security, ["capabilities", "drop"]),
	]) {
		count(capabilities_restricted.violations) == 1 with input as variant
		capabilities_restricted.applies with input as variant
	}
	every variant in testing.dropped(subject, [array.concat(security, ["capabilities", "add"])]) {
		capabilities_restricted.violations == set() with input as variant
	}
}

test_partial_container_is_judged_on_what_it_says if {
	capabilities_restricted.applies == false with input as testing.inference_service({"model": {"args": []}})
	count(capabilities_restricted.violations) == 1 with input as testing.inference_service({"model": capabilities(["CHOWN"], [])})
}

test_no_pod_no_question if {
	capabilities_restricted.applies == false with input as testing.config_map
	capabilities_restricted.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
