package pod.privileged_test

import data.lib.testing
import data.pod.privileged

bad := {"securityContext": {"privileged": true}}

test_containers_of_every_type if {
	violations := privileged.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
	testing.paths(violations) == {
		"spec.containers.0.securityContext.privileged",
		"spec.initContainers.0.securityContext.privileged",
		"spec.initContainers.1.securityContext.privileged",
		"spec.ephemeralContainers.0.securityContext.privileged",
	}
}

test_nested_templates if {
	spec := {"containers": [object.union({"name": "a"}, bad)]}
	cron := privileged.violations with input as testing.cron_job(spec)
	testing.paths(cron) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.privileged"}
	ray := privileged.violations with input as testing.ray_cluster(spec, spec)
	count(ray) == 2
	model := privileged.violations with input as testing.inference_service({"model": bad})
	testing.paths(model) == {"spec.predictor.model.securityContext.privileged"}
}

test_passes if {
	subject := testing.pod(testing.every_type({"securityContext": {"privileged": false}}))
	privileged.applies with input as subject
	privileged.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, bad)]})
	every variant in testing.dropped(subject, [["spec", "containers", 0, "securityContext"]]) {
		privileged.violations == set() with input as variant
		privileged.applies with input as variant
	}
	every value in [false, null, ""] {
		privileged.violations == set() with input as testing.pod({"containers": [{"name": "a", "securityContext": {"privileged": value}}]})
	}
	every variant in testing.dropped(subject, [["spec", "containers", 0, "name"]]) {
		violations := privileged.violations with input as variant
		testing.names(violations) == {"containers[0]"}
	}
}

test_a_text_is_not_off if {
	count(privileged.violations) == 1 with input as testing.pod({"containers": [{"securityContext": {"privileged": "true"}}]})
}

test_no_container_no_question if {
	every variant in testing.dropped(testing.pod({"containers": [{"name": "a"}]}), [["spec"], ["spec", "containers"]]) {
		privileged.applies == false with input as variant
	}
}

test_no_pod_no_question if {
	privileged.applies == false with input as testing.config_map
	privileged.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
