package gpu.device_plugin_present_test

import data.gpu.device_plugin_present as rule
import data.lib.expect

outcome(object, inventory) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

cluster := {"apiVersion": "fleetaudit.dev/v1", "kind": "Cluster", "metadata": {"name": "east"}}

gpus := [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]

deployment := {"apps/Deployment": {"serving": [{"metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": gpus}}}}]}}

plugin(name, image) := {"apps/DaemonSet": {"kube-system": [{
	"metadata": {"name": name},
	"spec": {"template": {"spec": {"containers": [{"image": image}]}}},
}]}}

test_fails_without_plugin if {
	outcome(cluster, deployment) == "fail"
	outcome(cluster, object.union(deployment, plugin("fluent-bit", "example.test/fluent-bit:3"))) == "fail"
	some violation in rule.violations with input as cluster with data.inventory as deployment
	violation.path == ["metadata", "name"]
	violation.seen == "nvidia.com"
}

test_passes_with_plugin if {
	outcome(cluster, object.union(deployment, plugin("plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"))) == "pass"
	outcome(cluster, object.union(deployment, plugin("nvidia-device-plugin-daemonset", "mirror.test/plugin:1"))) == "pass"
}

test_passes_with_operator if {
	outcome(cluster, object.union(deployment, {"nvidia.com/ClusterPolicy": {"": [{"metadata": {"name": "p"}}]}})) == "pass"
}

test_passes_with_a_node_that_offers if {
	outcome(cluster, object.union(deployment, {"Node": {"": [{"status": {"allocatable": {"nvidia.com/gpu": "8"}}}]}})) == "pass"
	outcome(cluster, object.union(deployment, {"Node": {"": [{"status": {"allocatable": {"amd.com/gpu": "8"}}}]}})) == "fail"
	every none in ["0", 0, "", null] {
		outcome(cluster, object.union(deployment, {"Node": {"": [{"status": {"allocatable": {"nvidia.com/gpu": none}}}]}})) == "fail"
	}
}

test_each_vendor_needs_its_own if {
	both := object.union(deployment, {"Pod": {"": [{"spec": {"containers": [{"resources": {"requests": {"amd.com/gpu": 1}}}]}}]}})
	outcome(cluster, object.union(both, plugin("plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"))) == "fail"
}

test_every_kind_is_read if {
	template := {"template": {"spec": {"containers": gpus}}}
	some_kinds := {
		"batch/CronJob": {"jobTemplate": {"spec": template}},
		"ray.io/RayCluster": {"workerGroupSpecs": [template]},
		"ray.io/RayService": {"rayClusterConfig": {"workerGroupSpecs": [template]}},
		"ray.io/RayJob": {"rayClusterSpec": {"workerGroupSpecs": [template]}},
		"serving.kserve.io/InferenceService": {"predictor": {"model": gpus[0]}},
		"kubeflow.org/PyTorchJob": {"pytorchReplicaSpecs": {"Worker": template}},
		"leaderworkerset.x-k8s.io/LeaderWorkerSet": {"leaderWorkerTemplate": {"workerTemplate": template.template}},
	}
	every kind, spec in some_kinds {
		outcome(cluster, {kind: {"research": [{"metadata": {"name": "w"}, "spec": spec}]}}) == "fail"
	}
}

test_does_not_apply_without_gpu_workloads if {
	outcome(cluster, {}) == "skip"
	outcome(cluster, {"apps/Deployment": {"serving": [{"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": 1}}}]}}}}]}}) == "skip"
	outcome(cluster, {"Pod": {"": [{"spec": {"containers": [{"resources": {"limits": {"rebellions.ai/ATOM": 1}}}]}}]}}) == "skip"
}

test_does_not_apply_to_another_kind if {
	every variant in expect.without(cluster, ["kind"]) {
		outcome(variant, deployment) == "skip"
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(cluster) {
		outcome(variant, deployment) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged(deployment["apps/Deployment"].serving[0]) {
		outcome(cluster, {"apps/Deployment": {"serving": [variant]}}) in {"skip", "pass", "fail"}
	}
}
