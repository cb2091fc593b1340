package pod.sysctls_test

import data.lib.testing
import data.pod.sysctls

setting(names) := {"securityContext": {"sysctls": [{"name": name, "value": "1"} | some name in names]}, "containers": [{"name": "a"}]}

test_unsafe if {
	violations := sysctls.violations with input as testing.cron_job(setting(["kernel.shm_rmid_forced", "kernel.msgmax"]))
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.securityContext.sysctls.1.name"}
}

test_all_fourteen_safe_ones if {
	names := [
		"kernel.shm_rmid_forced",
		"net.ipv4.ip_local_port_range",
		"net.ipv4.tcp_syncookies",
		"net.ipv4.ping_group_range",
		"net.ipv4.ip_unprivileged_port_start",
		"net.ipv4.ip_local_reserved_ports",
		"net.ipv4.tcp_keepalive_time",
		"net.ipv4.tcp_fin_timeout",
		"net.ipv4.tcp_keepalive_intvl",
		"net.ipv4.tcp_keepalive_probes",
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_wmem",
		"net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_notsent_lowat",
	]
	subject := testing.pod(setting(names))
	sysctls.applies with input as subject
	sysctls.violations == set() with input as subject
}

test_parameter if {
	subject := testing.pod(setting(["net.core.somaxconn"]))
	count(sysctls.violations) == 1 with input as subject
	sysctls.violations == set() with input as subject with data.parameters as {"pod/sysctls": {"allowed": ["net.core.somaxconn"]}}
}

test_dropped_fields if {
	subject := testing.pod(setting(["kernel.msgmax"]))
	every variant in testing.dropped(subject, [["spec", "securityContext"], ["spec", "securityContext", "sysctls"]]) {
		sysctls.violations == set() with input as variant
		sysctls.applies with input as variant
	}

	# A sysctl without a name is not a safe one.
	every variant in testing.dropped(subject, [
		["spec", "securityContext", "sysctls", 0],
		["spec", "securityContext", "sysctls", 0, "name"],
	]) {
		count(sysctls.violations) == count(object.get(variant, ["spec", "securityContext", "sysctls"], [])) with input as variant
	}
}

test_no_pod_no_question if {
	sysctls.applies == false with input as testing.config_map
	sysctls.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
