package availability.readiness_probe_test

import data.availability.readiness_probe
import data.lib.testing

good := {"readinessProbe": {"httpGet": {"path": "/health", "port": 8000}}}

test_passes if {
	every probe in [
		{"httpGet": {"port": 1}},
		{"httpGet": {"port": "http", "path": "/"}},
		{"tcpSocket": {"port": 1}},
		{"grpc": {"port": 1}},
		{"exec": {"command": ["/bin/health"]}},
		{"exec": {"command": ["sh", "-c", "curl -f localhost:8000/health || exit 1"]}},
	] {
		subject := testing.deployment(testing.every_type({"readinessProbe": probe}))
		readiness_probe.applies with input as subject
		readiness_probe.violations == set() with input as subject
	}
}

test_probes_that_ask_nothing if {
	every probe in [
		{"httpGet": {}},
		{"httpGet": {"path": "/health"}},
		{"tcpSocket": {"port": null}},
		{"grpc": {"port": ""}},
		{"exec": {}},
		{"exec": {"command": []}},
		{"exec": {"command": [""]}},
		{"exec": {"command": ["true"]}},
		{"exec": {"command": ["/bin/true"]}},
		{"exec": {"command": ["sh", "-c", "exit 0"]}},
		{"exec": {"command": ["/bin/bash", "-c", "true"]}},
	] {
		subject := testing.deployment({"containers": [{"name": "a", "readinessProbe": probe}]})
		count(readiness_probe.violations) == 1 with input as subject
	}
}

test_main_and_sidecar_are_asked if {
	violations := readiness_probe.violations with input as testing.deployment(testing.every_type({}))
	testing.names(violations) == {"main", "sidecar"}
	testing.paths(violations) == {"spec.template.spec.containers.0.readinessProbe", "spec.template.spec.initContainers.1.readinessProbe"}
}

test_jobs_are_not_asked if {
	readiness_probe.applies == false with input as testing.job(testing.every_type({}))
	readiness_probe.applies == false with input as testing.cron_job(testing.every_type({}))
	every policy in ["Never", "OnFailure"] {
		readiness_probe.applies == false with input as testing.pod(object.union({"restartPolicy": policy}, testing.every_type({})))
	}
}

test_ray_is_not_asked if {
	readiness_probe.applies == false with input as testing.ray_cluster(testing.every_type({}), testing.every_type({}))
}

test_a_group_of_pods_is_asked if {
	subject := {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [{"name": "w"}]}}}}}
	violations := readiness_probe.violations with input as subject
	testing.paths(violations) == {"spec.leaderWorkerTemplate.workerTemplate.spec.containers.0.readinessProbe"}
}

test_dropped_fields if {
	subject := testing.deployment({"containers": [object.union({"name": "a"}, good)]})
	probe := ["spec", "template", "spec", "containers", 0, "readinessProbe"]
	every variant in testing.dropped(subject, [probe, array.concat(probe, ["httpGet"])]) {
		readiness_probe.applies with input as variant
		count(readiness_probe.violations) == 1 with input as variant
	}
	count(readiness_probe.violations) == 1 with input as testing.deployment({"containers": [{"name": "a", "readinessProbe": {"periodSeconds": 5}}]})
}

test_no_pod_no_question if {
	readiness_probe.applies == false with input as testing.config_map
	readiness_probe.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
