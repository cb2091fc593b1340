package secret.literal_in_args_test

import data.lib.testing
import data.secret.literal_in_args

marker := "fleetaudit:redacted:arg_value:9-32"

bad := {"args": ["serve", concat("=", ["--api-key", marker])], "command": ["sh", "-c", marker]}

test_containers_of_every_type if {
	violations := literal_in_args.violations with input as testing.pod(testing.every_type(bad))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
	count(violations) == 8
}

test_paths if {
	violations := literal_in_args.violations with input as testing.cron_job({"containers": [object.union({"name": "a"}, bad)]})
	testing.paths(violations) == {
		"spec.jobTemplate.spec.template.spec.containers.0.args.1",
		"spec.jobTemplate.spec.template.spec.containers.0.command.2",
	}
	{v.seen | some v in violations} == {marker}
}

test_probes_and_hooks if {
	container := {
		"name": "a",
		"livenessProbe": {"exec": {"command": ["curl", marker]}},
		"readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": marker}]}},
		"lifecycle": {"preStop": {"exec": {"command": [marker]}}},
	}
	violations := literal_in_args.violations with input as testing.pod({"containers": [container]})
	testing.paths(violations) == {
		"spec.containers.0.livenessProbe.exec.command.1",
		"spec.containers.0.readinessProbe.httpGet.httpHeaders.0.value",
		"spec.containers.0.lifecycle.preStop.exec.command.0",
	}
}

test_script_of_a_workflow if {
	workflow := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"templates": [{"name": "fetch", "script": {
		"image": "python",
		"source": concat("", ["login('", marker, "')"]),
	}}]}}
	violations := literal_in_args.violations with input as workflow
	testing.paths(violations) == {"spec.templates.0.script.source"}
	{v.seen | some v in violations} == {marker}
}

test_a_model_too if {
	count(literal_in_args.violations) == 2 with input as testing.inference_service({"model": bad})
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a", "args": ["serve"], "livenessProbe": {"httpGet": {"port": 1}}}]})
	literal_in_args.applies with input as subject
	literal_in_args.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"containers": [{"name": "a", "args": [marker], "command": [marker]}]})
	every field in ["args", "command"] {
		every variant in testing.dropped(subject, [["spec", "containers", 0, field], ["spec", "containers", 0, field, 0]]) {
			count(literal_in_args.violations) == 1 with input as variant
		}
	}
	probe := ["spec", "containers", 0, "livenessProbe"]
	with_probe := testing.pod({"containers": [{"name": "a", "livenessProbe": {"exec": {"command": [marker]}}}]})
	every variant in testing.dropped(with_probe, [probe, array.concat(probe, ["exec"]), array.concat(probe, ["exec", "command"])]) {
		literal_in_args.violations == set() with input as variant
	}
}

test_no_pod_no_question if {
	literal_in_args.applies == false with input as testing.config_map
	literal_in_args.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
