package pod.host_ports_test

import data.lib.testing
import data.pod.host_ports

bad := {"ports": [{"containerPort": 8000}, {"containerPort": 9000, "hostPort": 9000}]}

test_containers_of_every_type if {
	violations := host_ports.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
	"spec.containers.0.ports.1.hostPort" in testing.paths(violations)
}

test_nested_template if {
	count(host_ports.violations) == 1 with input as testing.ray_cluster({"containers": [object.union({"name": "a"}, bad)]}, {})
}

test_container_ports_on_the_host_network if {
	ports := {"ports": [{"containerPort": 8000}, {"containerPort": 9000, "hostPort": 9000}, {"containerPort": 7000, "hostPort": 0}, {"name": "x"}]}
	every value in [true, "true"] {
		spec := object.union({"hostNetwork": value}, {"containers": [object.union({"name": "a"}, ports)]})
		violations := host_ports.violations with input as testing.deployment(spec)
		testing.paths(violations) == {
			"spec.template.spec.containers.0.ports.0.containerPort",
			"spec.template.spec.containers.0.ports.1.hostPort",
			"spec.template.spec.containers.0.ports.2.containerPort",
		}
	}
	violations := host_ports.violations with input as testing.pod(object.union({"hostNetwork": true}, testing.every_type({"ports": [{"containerPort": 80}]})))
	{"main", "init", "sidecar"} & testing.names(violations) == {"main", "init", "sidecar"}
	every value in [false, null, ""] {
		host_ports.violations == set() with input as testing.pod({"hostNetwork": value, "containers": [{"name": "a", "ports": [{"containerPort": 80}]}]})
	}
	every value in [0, null, ""] {
		host_ports.violations == set() with input as testing.pod({"hostNetwork": true, "containers": [{"name": "a", "ports": [{"containerPort": value}]}]})
	}
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a", "ports": [{"containerPort": 8000, "hostPort": 0}]}]})
	host_ports.applies with input as subject
	host_ports.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, bad)]})
	every variant in testing.dropped(subject, [["spec", "containers", 0, "ports"], ["spec", "containers", 0, "ports", 1]]) {
		host_ports.violations == set() with input as variant
		host_ports.applies with input as variant
	}
	every value in [0, null, ""] {
		host_ports.violations == set() with input as testing.pod({"containers": [{"ports": [{"hostPort": value}]}]})
	}
	count(host_ports.violations) == 1 with input as testing.pod({"containers": [{"ports": [{"hostPort": "80"}]}]})
}

test_no_pod_no_question if {
	host_ports.applies == false with input as testing.config_map
	host_ports.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
