package gpu.queue_named_test

import data.gpu.queue_named as rule
import data.lib.expect

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(containers) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "research"}, "spec": {"containers": containers}}

asks(resources) := {"name": "c", "resources": resources}

gpu := asks({"limits": {"nvidia.com/gpu": 1}})

bad := pod([gpu])

with_label(key, value) := expect.replaced(bad, ["metadata", "labels"], {key: value})

test_fails_without if {
	paths(bad) == {["metadata", "labels", "kueue.x-k8s.io/queue-name"]}
	every variant in expect.without(with_label("kueue.x-k8s.io/queue-name", "research"), ["metadata", "labels"]) {
		outcome(variant) == "fail"
	}
	every variant in expect.without(
		with_label("kueue.x-k8s.io/queue-name", "research"),
		["metadata", "labels", "kueue.x-k8s.io/queue-name"],
	) {
		outcome(variant) == "fail"
	}
}

test_passes_with_a_label_or_annotation if {
	outcome(with_label("kueue.x-k8s.io/queue-name", "research")) == "pass"
	outcome(expect.replaced(bad, ["metadata", "annotations"], {"scheduling.volcano.sh/queue-name": "research"})) == "pass"
	outcome(with_label("app", "research")) == "fail"
}

test_passes_with_a_field if {
	volcano := {
		"apiVersion": "batch.volcano.sh/v1alpha1",
		"kind": "Job",
		"metadata": {"name": "j"},
		"spec": {"queue": "research", "tasks": [{"template": {"spec": bad.spec}}]},
	}
	outcome(volcano) == "pass"
	every variant in expect.without(volcano, ["spec", "queue"]) {
		outcome(variant) == "fail"
	}
}

worker(labels) := {"template": {"metadata": {"labels": labels}, "spec": bad.spec}}

cluster(workers) := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": {
	"headGroupSpec": {"template": {"spec": {"containers": [{"name": "head"}]}}},
	"workerGroupSpecs": workers,
}}

test_every_template_that_asks if {
	queue := {"kueue.x-k8s.io/queue-name": "research"}
	outcome(cluster([worker(queue), worker(queue)])) == "pass"
	outcome(cluster([worker(queue), worker({})])) == "fail"
}

test_does_not_apply_to_what_is_not_queued_by_itself if {
	outcome(expect.replaced(bad, ["metadata", "ownerReferences"], [{"controller": true}])) == "skip"
	outcome(expect.replaced(bad, ["metadata", "ownerReferences"], [{"controller": false}])) == "fail"
	outcome({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": {"template": {"spec": bad.spec}}}) == "skip"
}

test_another_key if {
	outcome(with_label("team/queue", "q")) == "pass" with data.parameters["gpu/queue-named"].keys as ["team/queue"]
}

test_does_not_apply_to_zero_devices if {
	outcome(pod([asks({"limits": {"nvidia.com/gpu": 0}})])) == "skip"
}

test_does_not_apply_without_gpu if {
	outcome(pod([asks({"limits": {"cpu": 1, "example.test/widget": 1}})])) == "skip"
	outcome(pod([])) == "skip"
	every path in [["spec"], ["spec", "containers"], ["spec", "containers", 0, "resources"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
