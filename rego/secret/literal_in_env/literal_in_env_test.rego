package secret.literal_in_env_test

import data.lib.testing
import data.secret.literal_in_env

marker := "fleetaudit:redacted:env_value:9-32"

bad := {"env": [{"name": "PLAIN", "value": "x"}, {"name": "HUB_TOKEN", "value": marker}]}

test_containers_of_every_type if {
	violations := literal_in_env.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_path_and_message if {
	violations := literal_in_env.violations with input as testing.cron_job({"containers": [object.union({"name": "a"}, bad)]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.env.1.value"}
	{v.message | some v in violations} == {"container a: variable HUB_TOKEN holds a literal secret (env_value)"}
	{v.seen | some v in violations} == {marker}
}

test_models_and_trainers_too if {
	count(literal_in_env.violations) == 1 with input as testing.inference_service({"model": bad})
	count(literal_in_env.violations) == 1 with input as {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"trainer": bad}}
}

test_only_the_marker_is_shown if {
	subject := testing.pod({"containers": [{"name": "a", "env": [{"name": "URL", "value": concat("", ["https://user:", marker, "@host"])}]}]})
	violations := literal_in_env.violations with input as subject
	{v.seen | some v in violations} == {marker}
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a", "env": [{"name": "A", "value": "x"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "h", "key": "k"}}}]}]})
	literal_in_env.applies with input as subject
	literal_in_env.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [{"name": "a", "env": [{"name": "T", "value": marker}]}]})
	env := ["spec", "containers", 0, "env"]
	every variant in testing.dropped(subject, [env, array.concat(env, [0]), array.concat(env, [0, "value"])]) {
		literal_in_env.violations == set() with input as variant
		literal_in_env.applies with input as variant
	}
	every variant in testing.dropped(subject, [array.concat(env, [0, "name"])]) {
		count(literal_in_env.violations) == 1 with input as variant
	}
}

test_no_pod_no_question if {
	literal_in_env.applies == false with input as testing.config_map
	literal_in_env.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
