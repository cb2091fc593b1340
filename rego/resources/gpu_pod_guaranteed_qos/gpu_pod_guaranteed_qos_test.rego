package resources.gpu_pod_guaranteed_qos_test

import data.lib.testing
import data.resources.gpu_pod_guaranteed_qos

asking(resources) := {"name": "a", "resources": resources}

good := {"requests": {"cpu": "1", "memory": "1024Mi"}, "limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": "1"}}

test_passes if {
	subject := testing.pod({"containers": [asking(good)]})
	gpu_pod_guaranteed_qos.applies with input as subject
	gpu_pod_guaranteed_qos.violations == set() with input as subject
}

test_limits_alone_are_enough if {
	subject := testing.pod({"containers": [asking({"limits": good.limits})]})
	gpu_pod_guaranteed_qos.applies with input as subject
	gpu_pod_guaranteed_qos.violations == set() with input as subject
}

test_every_container_of_the_pod if {
	subject := testing.cron_job(object.union(testing.every_type({}), {"containers": [asking(good)]}))
	violations := gpu_pod_guaranteed_qos.violations with input as subject
	testing.names(violations) == {"init", "sidecar"}
	"spec.jobTemplate.spec.template.spec.initContainers.0.resources.limits.memory" in testing.paths(violations)
}

test_only_the_group_with_gpus if {
	subject := testing.ray_cluster({"containers": [{"name": "h"}]}, {"containers": [asking({"limits": {"nvidia.com/mig-1g.10gb": 1}})]})
	violations := gpu_pod_guaranteed_qos.violations with input as subject
	testing.names(violations) == {"a"}
	count(violations) == 2
}

test_unequal if {
	subject := testing.pod({"containers": [asking({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1G", "amd.com/gpu": 1}})]})
	count(gpu_pod_guaranteed_qos.violations) == 2 with input as subject
}

test_zero_is_not_stated if {
	every value in ["0", 0, "lots"] {
		every resources in [{"limits": {"cpu": value, "memory": "1Gi"}}, {"requests": {"cpu": value}, "limits": {"cpu": value, "memory": "1Gi"}}] {
			subject := testing.pod({"containers": [asking({"limits": {"amd.com/gpu": 1}}), {"name": "b", "resources": resources}]})
			violations := gpu_pod_guaranteed_qos.violations with input as subject
			"spec.containers.1.resources.limits.cpu" in testing.paths(violations)
		}
	}
	zero_request := testing.pod({"containers": [asking({"requests": {"cpu": 0}, "limits": {"cpu": "1", "memory": "1Gi", "amd.com/gpu": 1}})]})
	count(gpu_pod_guaranteed_qos.violations) == 1 with input as zero_request
}

test_no_gpu_no_question if {
	gpu_pod_guaranteed_qos.applies == false with input as testing.pod({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}]})
	gpu_pod_guaranteed_qos.applies == false with input as testing.inference_service({"model": {"resources": {"limits": {"nvidia.com/gpu": 1}}}})
}

test_resources_of_the_whole_pod_decide if {
	pod_level := {"resources": {"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}}}
	containers := {"containers": [asking({"limits": {"nvidia.com/gpu": 1}})]}
	gpu_pod_guaranteed_qos.violations == set() with input as testing.pod(object.union(pod_level, containers))
	less := json.patch(testing.pod(object.union(pod_level, containers)), [{"op": "replace", "path": "/spec/resources/requests/cpu", "value": "2"}])
	violations := gpu_pod_guaranteed_qos.violations with input as less
	testing.paths(violations) == {"spec.resources.limits.cpu"}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [asking(good)]})
	resources := ["spec", "containers", 0, "resources"]
	every name in ["cpu", "memory"] {
		every variant in testing.dropped(subject, [array.concat(resources, ["limits", name])]) {
			count(gpu_pod_guaranteed_qos.violations) == 1 with input as variant
		}
		every variant in testing.dropped(subject, [array.concat(resources, ["requests", name])]) {
			gpu_pod_guaranteed_qos.violations == set() with input as variant
		}
	}
	every variant in testing.dropped(subject, [resources, array.concat(resources, ["limits"])]) {
		gpu_pod_guaranteed_qos.applies == false with input as variant
	}
	every value in ["text", true, "1gi"] {
		changed := json.patch(subject, [{"op": "replace", "path": array.concat(resources, ["limits", "cpu"]), "value": value}])
		count(gpu_pod_guaranteed_qos.violations) == 1 with input as changed
	}
}

test_no_pod_no_question if {
	gpu_pod_guaranteed_qos.applies == false with input as testing.config_map
	gpu_pod_guaranteed_qos.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
