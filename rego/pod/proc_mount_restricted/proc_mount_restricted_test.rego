package pod.proc_mount_restricted_test

import data.lib.testing
import data.pod.proc_mount_restricted

bad := {"securityContext": {"procMount": "Unmasked"}}

test_containers_of_every_type if {
	violations := proc_mount_restricted.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := proc_mount_restricted.violations with input as testing.cron_job({"containers": [object.union({"name": "a"}, bad)]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.procMount"}
}

test_passes if {
	subject := testing.pod(testing.every_type({"securityContext": {"procMount": "Default"}}))
	proc_mount_restricted.applies with input as subject
	proc_mount_restricted.violations == set() with input as subject
}

test_user_namespace if {
	subject := object.union(testing.pod({"hostUsers": false}), testing.pod(testing.every_type(bad)))
	count(proc_mount_restricted.violations) == 4 with input as subject
	every variant in testing.dropped(subject, [["spec", "hostUsers"]]) {
		count(proc_mount_restricted.violations) == 4 with input as variant
	}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, bad)]})
	every variant in testing.dropped(subject, [["spec", "containers", 0, "securityContext"]]) {
		proc_mount_restricted.violations == set() with input as variant
		proc_mount_restricted.applies with input as variant
	}
	every value in [null, ""] {
		proc_mount_restricted.violations == set() with input as testing.pod({"containers": [{"securityContext": {"procMount": value}}]})
	}
	count(proc_mount_restricted.violations) == 1 with input as testing.pod({"containers": [{"securityContext": {"procMount": true}}]})
}

test_no_pod_no_question if {
	proc_mount_restricted.applies == false with input as testing.config_map
	proc_mount_restricted.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
