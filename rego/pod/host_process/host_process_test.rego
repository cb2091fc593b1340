package pod.host_process_test

import data.lib.testing
import data.pod.host_process

bad := {"securityContext": {"windowsOptions": {"hostProcess": true}}}

test_containers_of_every_type if {
	violations := host_process.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_pod_level if {
	subject := testing.deployment(object.union(bad, {"containers": [{"name": "a"}]}))
	violations := host_process.violations with input as subject
	testing.paths(violations) == {"spec.template.spec.securityContext.windowsOptions.hostProcess"}
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a", "securityContext": {"windowsOptions": {"hostProcess": false}}}]})
	host_process.applies with input as subject
	host_process.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, bad)]})
	container := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [
		container,
		array.concat(container, ["windowsOptions"]),
	]) {
		host_process.violations == set() with input as variant
		host_process.applies with input as variant
	}
}

test_a_text_is_not_off if {
	subject := testing.pod({"containers": [{"name": "a", "securityContext": {"windowsOptions": {"hostProcess": "true"}}}]})
	count(host_process.violations) == 1 with input as subject
}

test_no_pod_no_question if {
	host_process.applies == false with input as testing.config_map
	host_process.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
