package secret.env_secret_ref_test

import data.lib.testing
import data.secret.env_secret_ref

bad := {
	"env": [{"name": "PLAIN", "value": "x"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
	"envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "hub"}}],
}

test_containers_of_every_type if {
	violations := env_secret_ref.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
	count(violations) == 8
}

test_paths if {
	violations := env_secret_ref.violations with input as testing.cron_job({"containers": [object.union({"name": "a"}, bad)]})
	testing.paths(violations) == {
		"spec.jobTemplate.spec.template.spec.containers.0.env.1.valueFrom.secretKeyRef",
		"spec.jobTemplate.spec.template.spec.containers.0.envFrom.1.secretRef",
	}
}

test_a_model_too if {
	count(env_secret_ref.violations) == 2 with input as testing.inference_service({"model": bad})
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a", "env": [{"name": "PLAIN", "value": "x"}], "envFrom": [{"configMapRef": {}}]}]})
	env_secret_ref.applies with input as subject
	env_secret_ref.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [{"name": "a", "env": [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "h"}}}]}]})
	env := ["spec", "containers", 0, "env"]
	every variant in testing.dropped(subject, [
		env,
		array.concat(env, [0]),
		array.concat(env, [0, "valueFrom"]),
		array.concat(env, [0, "valueFrom", "secretKeyRef"]),
	]) {
		env_secret_ref.violations == set() with input as variant
		env_secret_ref.applies with input as variant
	}
	every variant in testing.dropped(subject, [array.concat(env, [0, "name"])]) {
		count(env_secret_ref.violations) == 1 with input as variant
	}
	from := testing.pod({"containers": [{"name": "a", "envFrom": [{"secretRef": {"name": "h"}}]}]})
	source := ["spec", "containers", 0, "envFrom"]
	every variant in testing.dropped(from, [source, array.concat(source, [0]), array.concat(source, [0, "secretRef"])]) {
		env_secret_ref.violations == set() with input as variant
	}
}

test_no_pod_no_question if {
	env_secret_ref.applies == false with input as testing.config_map
	env_secret_ref.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
