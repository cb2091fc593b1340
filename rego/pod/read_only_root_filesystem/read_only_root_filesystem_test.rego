package pod.read_only_root_filesystem_test

import data.lib.testing
import data.pod.read_only_root_filesystem

good := {"securityContext": {"readOnlyRootFilesystem": true}}

test_passes if {
	subject := testing.pod(testing.every_type(good))
	read_only_root_filesystem.applies with input as subject
	read_only_root_filesystem.violations == set() with input as subject
}

test_ephemeral_containers_are_not_asked if {
	violations := read_only_root_filesystem.violations with input as testing.pod(testing.every_type({}))
	testing.names(violations) == {"main", "init", "sidecar"}
}

test_path_of_what_is_missing if {
	violations := read_only_root_filesystem.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.readOnlyRootFilesystem"}
}

test_windows if {
	read_only_root_filesystem.applies == false with input as testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]})
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, good)]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [["spec", "containers", 0], security, array.concat(security, ["readOnlyRootFilesystem"])]) {
		count(read_only_root_filesystem.violations) == count(object.get(variant, ["spec", "containers"], [])) with input as variant
	}
	every value in [false, "true", 1] {
		count(read_only_root_filesystem.violations) == 1 with input as testing.pod({"containers": [{"securityContext": {"readOnlyRootFilesystem": value}}]})
	}
}

test_partial_container_is_judged_on_what_it_says if {
	read_only_root_filesystem.applies == false with input as testing.inference_service({"model": {"args": []}})
	count(read_only_root_filesystem.violations) == 1 with input as testing.inference_service({"model": {"securityContext": {"readOnlyRootFilesystem": false}}})
}

test_no_pod_no_question if {
	read_only_root_filesystem.applies == false with input as testing.config_map
	read_only_root_filesystem.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
