package pod.capabilities_baseline_test

import data.lib.testing
import data.pod.capabilities_baseline

adds(capabilities) := {"securityContext": {"capabilities": {"add": capabilities}}}

test_containers_of_every_type if {
	violations := capabilities_baseline.violations with input as testing.pod(testing.every_type(adds(["SYS_ADMIN"])))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_path_names_the_capability if {
	subject := testing.cron_job({"containers": [object.union({"name": "a"}, adds(["CHOWN", "NET_RAW"]))]})
	violations := capabilities_baseline.violations with input as subject
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.capabilities.add.1"}
}

test_every_allowed_one_passes if {
	names := [
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
		"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	]
	subject := testing.pod(testing.every_type(adds(names)))
	capabilities_baseline.applies with input as subject
	capabilities_baseline.violations == set() with input as subject
}

test_names_are_compared_exactly if {
	every name in ["ALL", "CAP_CHOWN", "chown", "", null, 5, "IPC_LOCK"] {
		count(capabilities_baseline.violations) == 1 with input as testing.pod({"containers": [object.union({"name": "a"}, adds([name]))]})
	}
	count(capabilities_baseline.violations) == 1 with input as testing.pod({"containers": [object.union({"name": "a"}, adds("SYS_ADMIN"))]})
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, adds(["SYS_ADMIN"]))]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [
		security,
		array.concat(security, ["capabilities"]),
		array.concat(security, ["capabilities", "add"]),
	]) {
		capabilities_baseline.violations == set() with input as variant
		capabilities_baseline.applies with input as variant
	}
}

test_no_pod_no_question if {
	capabilities_baseline.applies == false with input as testing.config_map
	capabilities_baseline.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
