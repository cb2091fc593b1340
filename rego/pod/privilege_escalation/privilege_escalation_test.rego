package pod.privilege_escalation_test

import data.lib.testing
import data.pod.privilege_escalation

good := {"securityContext": {"allowPrivilegeEscalation": false}}

test_passes if {
	subject := testing.pod(testing.every_type(good))
	privilege_escalation.applies with input as subject
	privilege_escalation.violations == set() with input as subject
}

test_containers_of_every_type if {
	violations := privilege_escalation.violations with input as testing.pod(testing.every_type({}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_path_of_what_is_missing if {
	violations := privilege_escalation.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.allowPrivilegeEscalation"}
}

test_dropped_fields if {
	subject := testing.ray_cluster({"containers": [object.union({"name": "a"}, good)]}, {"containers": [object.union({"name": "b"}, good)]})
	container := ["spec", "headGroupSpec", "template", "spec", "containers", 0]
	every variant in testing.dropped(subject, [array.concat(container, ["securityContext"]), array.concat(container, ["securityContext", "allowPrivilegeEscalation"])]) {
		count(privilege_escalation.violations) == 1 with input as variant
		privilege_escalation.applies with input as variant
	}
	every value in [null, "", "x", true] {
		count(privilege_escalation.violations) == 1 with input as testing.pod({"containers": [value]})
	}
}

test_windows if {
	privilege_escalation.applies == false with input as testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]})
	every variant in testing.dropped(testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]}), [["spec", "os"], ["spec", "os", "name"]]) {
		count(privilege_escalation.violations) == 1 with input as variant
	}
}

test_partial_container_is_judged_on_what_it_says if {
	privilege_escalation.applies == false with input as testing.inference_service({"model": {"args": []}})
	subject := testing.inference_service({"model": {"securityContext": {"allowPrivilegeEscalation": true}}})
	privilege_escalation.applies with input as subject
	count(privilege_escalation.violations) == 1 with input as subject
}

test_no_pod_no_question if {
	privilege_escalation.applies == false with input as testing.config_map
	privilege_escalation.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
