package pod.selinux_test

import data.lib.testing
import data.pod.selinux

options(value) := {"securityContext": {"seLinuxOptions": value}}

bad := options({"type": "spc_t", "user": "u", "role": "r", "level": "s0"})

test_containers_of_every_type if {
	violations := selinux.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
	count(violations) == 12
}

test_pod_level if {
	violations := selinux.violations with input as testing.cron_job(bad)
	path := "spec.jobTemplate.spec.template.spec.securityContext.seLinuxOptions"
	testing.paths(violations) == {concat(".", [path, field]) | some field in ["type", "user", "role"]}
}

test_allowed_types if {
	every name in ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"] {
		subject := testing.pod(testing.every_type(options({"type": name, "level": "s0:c1"})))
		selinux.applies with input as subject
		selinux.violations == set() with input as subject
	}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, options({"type": "spc_t"}))]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [security, array.concat(security, ["seLinuxOptions"])]) {
		selinux.violations == set() with input as variant
		selinux.applies with input as variant
	}
	every field in ["type", "user", "role"] {
		every value in [null, ""] {
			selinux.violations == set() with input as testing.pod({"containers": [options({field: value})]})
		}
		count(selinux.violations) == 1 with input as testing.pod({"containers": [options({field: 5})]})
	}
}

test_no_pod_no_question if {
	selinux.applies == false with input as testing.config_map
	selinux.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
