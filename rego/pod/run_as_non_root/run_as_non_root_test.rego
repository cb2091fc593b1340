package pod.run_as_non_root_test

import data.lib.testing
import data.pod.run_as_non_root

says(value) := {"securityContext": {"runAsNonRoot": value}}

test_pod_level_covers_every_container if {
	subject := testing.pod(object.union(says(true), testing.every_type({})))
	run_as_non_root.applies with input as subject
	run_as_non_root.violations == set() with input as subject
}

test_container_level_is_enough if {
	run_as_non_root.violations == set() with input as testing.pod(testing.every_type(says(true)))
}

test_the_container_wins if {
	violations := run_as_non_root.violations with input as testing.pod(object.union(says(true), testing.every_type(says(false))))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_false_at_pod_level_fails_whatever_the_containers_say if {
	violations := run_as_non_root.violations with input as testing.pod(object.union(says(false), testing.every_type(says(true))))
	testing.paths(violations) == {"spec.securityContext.runAsNonRoot"}
	count(run_as_non_root.violations) == 1 with input as testing.pod(object.union(says(false), testing.every_type({})))
}

test_path_of_what_is_missing if {
	violations := run_as_non_root.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.runAsNonRoot"}
}

test_user_namespace if {
	subject := testing.pod({"hostUsers": false, "containers": [{"name": "a"}]})
	run_as_non_root.applies == false with input as subject
	every variant in testing.dropped(subject, [["spec", "hostUsers"]]) {
		count(run_as_non_root.violations) == 1 with input as variant
	}
}

test_windows_is_asked if {
	count(run_as_non_root.violations) == 1 with input as testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]})
}

test_dropped_fields if {
	subject := testing.pod(object.union(says(true), testing.every_type({})))
	every variant in testing.dropped(subject, [["spec", "securityContext"], ["spec", "securityContext", "runAsNonRoot"]]) {
		count(run_as_non_root.violations) == 4 with input as variant
		run_as_non_root.applies with input as variant
	}
	every value in ["true", 1] {
		count(run_as_non_root.violations) == 1 with input as testing.pod({"containers": [object.union({"name": "a"}, says(value))]})
	}
}

test_partial_container_is_judged_on_what_it_says if {
	run_as_non_root.applies == false with input as testing.inference_service({"model": {"args": []}})
	count(run_as_non_root.violations) == 1 with input as testing.inference_service({"model": says(false)})
}

test_no_pod_no_question if {
	run_as_non_root.applies == false with input as testing.config_map
	run_as_non_root.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
