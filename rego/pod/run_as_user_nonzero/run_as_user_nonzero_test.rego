package pod.run_as_user_nonzero_test

import data.lib.testing
import data.pod.run_as_user_nonzero

user(value) := {"securityContext": {"runAsUser": value}}

test_containers_of_every_type if {
	violations := run_as_user_nonzero.violations with input as testing.pod(testing.every_type(user(0)))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_pod_level if {
	violations := run_as_user_nonzero.violations with input as testing.cron_job(user(0))
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.securityContext.runAsUser"}
}

test_passes if {
	subject := testing.pod(object.union(user(1000), testing.every_type(user(1))))
	run_as_user_nonzero.applies with input as subject
	run_as_user_nonzero.violations == set() with input as subject
}

test_user_namespace if {
	subject := testing.pod(object.union({"hostUsers": false}, testing.every_type(user(0))))
	run_as_user_nonzero.violations == set() with input as subject
	every variant in testing.dropped(subject, [["spec", "hostUsers"]]) {
		count(run_as_user_nonzero.violations) == 4 with input as variant
	}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, user(0))]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [security, array.concat(security, ["runAsUser"])]) {
		run_as_user_nonzero.violations == set() with input as variant
		run_as_user_nonzero.applies with input as variant
	}
	count(run_as_user_nonzero.violations) == 1 with input as testing.pod({"containers": [user("0")]})
}

test_no_pod_no_question if {
	run_as_user_nonzero.applies == false with input as testing.config_map
	run_as_user_nonzero.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
