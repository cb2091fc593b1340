package pod.host_probes_test

import data.lib.testing
import data.pod.host_probes

handlers(host) := {"httpGet": {"port": 1, "host": host}, "tcpSocket": {"port": 1, "host": host}}

bad := {
	"livenessProbe": handlers("10.0.0.1"),
	"readinessProbe": handlers("10.0.0.1"),
	"startupProbe": handlers("10.0.0.1"),
	"lifecycle": {"postStart": handlers("10.0.0.1"), "preStop": handlers("10.0.0.1")},
}

test_all_ten_fields if {
	violations := host_probes.violations with input as testing.pod({"containers": [object.union({"name": "a"}, bad)]})
	testing.paths(violations) == {sprintf("spec.containers.0.%s.%s.host", [handler, action]) |
		some handler in ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"]
		some action in ["httpGet", "tcpSocket"]
	}
	{v.message | some v in violations} == {sprintf("container a: %s names a host", [handler]) |
		some handler in ["livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"]
	}
}

test_containers_of_every_type if {
	violations := host_probes.violations with input as testing.pod(testing.every_type({"livenessProbe": {"httpGet": {"host": "x"}}}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_passes if {
	subject := testing.cron_job({"containers": [{"name": "a", "livenessProbe": {"grpc": {"port": 1}}, "readinessProbe": {"httpGet": {"port": 1}}}]})
	host_probes.applies with input as subject
	host_probes.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [{"name": "a", "livenessProbe": {"httpGet": {"host": "x"}}}]})
	probe := ["spec", "containers", 0, "livenessProbe"]
	every variant in testing.dropped(subject, [probe, array.concat(probe, ["httpGet"])]) {
		host_probes.violations == set() with input as variant
		host_probes.applies with input as variant
	}
	hook := ["spec", "containers", 0, "lifecycle"]
	with_hook := testing.pod({"containers": [{"name": "a", "lifecycle": {"preStop": {"tcpSocket": {"host": "x"}}}}]})
	every variant in testing.dropped(with_hook, [hook, array.concat(hook, ["preStop"]), array.concat(hook, ["preStop", "tcpSocket"])]) {
		host_probes.violations == set() with input as variant
		host_probes.applies with input as variant
	}
	every value in [null, ""] {
		host_probes.violations == set() with input as testing.pod({"containers": [{"livenessProbe": {"httpGet": {"host": value}}}]})
	}
}

test_no_pod_no_question if {
	host_probes.applies == false with input as testing.config_map
	host_probes.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
