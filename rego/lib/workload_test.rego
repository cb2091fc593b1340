package lib.workload_test

import data.lib.workload

pod := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
	"initContainers": [
		{"name": "fetch"},
		{"name": "log", "restartPolicy": "Always"},
	],
	"containers": [{"name": "main", "securityContext": {"privileged": true}}],
	"ephemeralContainers": [{"name": "debug"}],
	"volumes": [{"name": "v", "emptyDir": {}}],
}}

found(object) := {c.name: [c.type, path(c.path)] | some c in workload.containers with input as object}

path(segments) := concat(".", [sprintf("%v", [s]) | some s in segments])

test_four_types_of_container if {
	found(pod) == {
		"fetch": ["init", "spec.initContainers.0"],
		"log": ["sidecar", "spec.initContainers.1"],
		"main": ["container", "spec.containers.0"],
		"debug": ["ephemeral", "spec.ephemeralContainers.0"],
	}
}

test_who_is_asked_for_probes_and_limits if {
	[c.name | some c in workload.serving_containers with input as pod] == ["main", "log"]
	[c.name | some c in workload.resource_containers with input as pod] == ["main", "fetch", "log"]
}

test_volume_has_its_place if {
	workload.volumes == [{
		"path": ["spec", "volumes", 0],
		"name": "v",
		"value": {"name": "v", "emptyDir": {}},
		"template": 0,
	}] with input as pod
}

test_cron_job_three_levels_down if {
	object := {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod.spec}}}}}
	found(object).main == ["container", "spec.jobTemplate.spec.template.spec.containers.0"]
	workload.serving_containers == [] with input as object
}

test_ray_worker_groups if {
	worker := {"template": {"spec": {"containers": [{"name": "worker"}]}}}
	object := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {
		"headGroupSpec": {"template": {"spec": {"containers": [{"name": "head"}]}}},
		"workerGroupSpecs": [worker, worker],
	}}
	paths := [path(c.path) | some c in workload.containers with input as object]
	paths == [
		"spec.headGroupSpec.template.spec.containers.0",
		"spec.workerGroupSpecs.0.template.spec.containers.0",
		"spec.workerGroupSpecs.1.template.spec.containers.0",
	]
}

test_replica_specs_are_a_mapping if {
	object := {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {
		"Master": {"template": {"spec": {"containers": [{"name": "a"}]}}},
		"Worker": {"template": {"spec": {"containers": [{"name": "b"}]}}},
	}}}
	found(object) == {
		"a": ["container", "spec.pytorchReplicaSpecs.Master.template.spec.containers.0"],
		"b": ["container", "spec.pytorchReplicaSpecs.Worker.template.spec.containers.0"],
	}
}

test_two_stars if {
	object := {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "spec": {"components": [
		{"template": {"kind": "ConfigMap", "data": {}}},
		{"template": {"spec": {"workerGroupSpecs": [{"template": {"spec": {"containers": [{"name": "w"}]}}}]}}},
	]}}
	found(object) == {"w": ["container", "spec.components.1.template.spec.workerGroupSpecs.0.template.spec.containers.0"]}
}

test_kserve_inlines_the_pod_spec if {
	object := {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "spec": {
		"predictor": {"serviceAccountName": "s", "model": {"args": ["a"]}},
		"transformer": {"containers": [{"name": "t"}]},
	}}
	found(object) == {
		"model": ["container", "spec.predictor.model"],
		"t": ["container", "spec.transformer.containers.0"],
	}
	[c.name | some c in workload.whole_containers with input as object] == ["t"]
	[t.spec_path | some t in workload.templates with input as object] == [["spec", "predictor"], ["spec", "transformer"]]
}

test_a_merged_template_is_partial if {
	object := {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "LLMInferenceService", "spec": {"template": {"containers": [{"name": "main"}]}}}
	found(object) == {"main": ["container", "spec.template.containers.0"]}
	workload.whole_containers == [] with input as object
	workload.whole_templates == [] with input as object
}

test_a_lone_container_has_no_pod_of_its_own if {
	object := {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"trainer": {"image": "i"}}}
	found(object) == {"trainer": ["container", "spec.trainer"]}
	workload.whole_containers == [] with input as object
	workload.whole_templates == [] with input as object
}

workflow := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {
	"hostNetwork": true,
	"securityContext": {"runAsNonRoot": true},
	"volumes": [{"name": "outer"}],
	"templates": [
		{"name": "steps", "steps": []},
		{
			"name": "train",
			"container": {"image": "a"},
			"initContainers": [{"name": "i"}],
			"sidecars": [{"name": "s"}],
			"volumes": [{"name": "inner"}],
		},
		{"name": "eval", "script": {"name": "code", "source": "x"}, "securityContext": {"runAsUser": 5}},
		{"name": "set", "containerSet": {"containers": [{"name": "c"}]}},
	],
}}

test_argo_templates if {
	found(workflow) == {
		"container": ["container", "spec.templates.1.container"],
		"i": ["init", "spec.templates.1.initContainers.0"],
		"s": ["sidecar", "spec.templates.1.sidecars.0"],
		"code": ["container", "spec.templates.2.script"],
		"c": ["container", "spec.templates.3.containerSet.containers.0"],
	}
	count(workload.whole_containers) == 5 with input as workflow
	workload.serving_containers == [] with input as workflow
}

test_argo_pod_fields_come_from_the_workflow if {
	templates := workload.templates with input as workflow
	templates[0].spec.hostNetwork == true
	templates[0].security == {"runAsNonRoot": true}
	templates[1].security == {"runAsUser": 5}
	workload.field_path(templates[0], "hostNetwork") == ["spec", "hostNetwork"]
	workload.field_path(templates[1], "securityContext") == ["spec", "templates", 2, "securityContext"]
	workload.field_path(templates[1], "hostPID") == ["spec", "templates", 2, "hostPID"]
	{path(v.path) | some v in workload.volumes with input as workflow} == {"spec.templates.1.volumes.0", "spec.volumes.0"}
}

test_effective_setting_prefers_the_container if {
	object := {"apiVersion": "v1", "kind": "Pod", "spec": {
		"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
		"containers": [
			{"name": "own", "securityContext": {"runAsNonRoot": false}},
			{"name": "pod", "securityContext": {"seccompProfile": {}}},
		],
	}}
	containers := workload.containers with input as object
	workload.effective(containers[0], "runAsNonRoot") == false with input as object
	workload.effective(containers[1], "runAsNonRoot") == true with input as object
	workload.effective(containers[1], "seccompProfile") == {"type": "RuntimeDefault"} with input as object
	workload.effective(containers[1], "runAsUser") == null with input as object
	workload.effective_path(containers[0], "runAsNonRoot") == ["spec", "containers", 0, "securityContext", "runAsNonRoot"] with input as object
	workload.effective_path(containers[1], "runAsNonRoot") == ["spec", "securityContext", "runAsNonRoot"] with input as object
	workload.effective_path(containers[1], "runAsUser") == ["spec", "containers", 1, "securityContext", "runAsUser"] with input as object
}

test_steps_of_a_task_are_containers_with_or_without_a_name if {
	step := {"image": "i", "securityContext": {"privileged": true}}
	found({"apiVersion": "tekton.dev/v1", "kind": "Task", "spec": {
		"steps": [step, object.union(step, {"name": "b"})],
		"sidecars": [step],
		"stepTemplate": {"env": []},
	}}) == {
		"stepTemplate": ["container", "spec.stepTemplate"],
		"steps[0]": ["container", "spec.steps.0"],
		"b": ["container", "spec.steps.1"],
		"sidecars[0]": ["container", "spec.sidecars.0"],
	}
}

test_pods_that_end_do_not_serve if {
	some policy in ["Never", "OnFailure"]
	workload.serving_containers == [] with input as object.union(pod, {"spec": {"restartPolicy": policy}})
}

test_malformed_objects_do_not_crash if {
	every value in [null, "", [], {}, "text", 5, true, [null, "x", 5]] {
		is_array(workload.containers) with input as {"apiVersion": "v1", "kind": "Pod", "spec": value}
		is_array(workload.containers) with input as {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": value}}
		is_array(workload.volumes) with input as {"apiVersion": "v1", "kind": "Pod", "spec": {"volumes": value}}
		is_array(workload.containers) with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": value}
		is_array(workload.containers) with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": value}}
		is_array(workload.containers) with input as {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"workerGroupSpecs": value}}
		is_array(workload.containers) with input as {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"templates": value}}
	}
	names := [c.name | some c in workload.containers with input as {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [null, {"name": 5}]}}]
	names == ["containers[0]", "containers[1]"]
}

test_a_kind_without_pods_has_none if {
	workload.containers == [] with input as {"apiVersion": "v1", "kind": "ConfigMap"}
	workload.templates == [] with input as {}
}

test_table_has_at_most_two_stars if {
	every entries in data.pod_templates {
		every entry in entries {
			count([s | some s in entry.path; s == "*"]) <= 2
			entry.holds in {"template", "spec", "container", "argo_template"}
		}
	}
}
