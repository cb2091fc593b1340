# METADATA
# scope: package
# title: GPU workloads name their queue
# description: |
#   A workload outside the queues takes GPUs that the queues believe are free, past every quota and priority. The queue is
#   named by a label or annotation of Kueue, Volcano, KAI or Run:ai on the workload or its pods, or by the kind's own field.
#   DaemonSets, and objects that another object controls, are not asked.
# related_resources:
# - ref: https://kueue.sigs.k8s.io/docs/tasks/run/
# - ref: https://volcano.sh/en/docs/queue/
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_gpu_asked_for_or_not_queued_by_itself
#   remediation: Label the workload with the local queue that its team's quota stands in.
#   fix: |
#     metadata:
#       labels:
#         kueue.x-k8s.io/queue-name: research
package gpu.queue_named

import data.lib.gpu
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if {
	count(gpu.asking) > 0
	not workload.kind_key in unqueued
	not controlled
}

# Node agents, and descriptions that make no pods by themselves.
unqueued := {
	"apps/DaemonSet",
	"PodTemplate",
	"serving.kserve.io/ClusterServingRuntime",
	"serving.kserve.io/ServingRuntime",
	"serving.kserve.io/LLMInferenceServiceConfig",
	"argoproj.io/ClusterWorkflowTemplate",
	"argoproj.io/WorkflowTemplate",
	"trainer.kubeflow.org/ClusterTrainingRuntime",
	"trainer.kubeflow.org/TrainingRuntime",
}

default controlled := false

controlled if {
	some owner in obj.list(input, ["metadata", "ownerReferences"])
	owner.controller == true
}

violations contains violation if {
	applies
	not queued
	violation := {
		"path": ["metadata", "labels", rules.keys[0]],
		"message": "asks for GPUs without naming a queue",
		"seen": null,
		"expected": "the name of a queue",
	}
}

rules := data.parameters["gpu/queue-named"]

default queued := false

queued if named(obj.labels)

queued if named(obj.annotations)

queued if {
	some path in rules.fields
	obj.text(input, path) != ""
}

# Pods that name it one by one, in every template that asks.
queued if {
	every asking in gpu.asking {
		in_template(asking.template)
	}
}

in_template(template) if named(obj.mapping(template, ["metadata", "labels"]))

in_template(template) if named(obj.mapping(template, ["metadata", "annotations"]))

named(labels) if {
	some key in rules.keys
	value := labels[key]
	is_string(value)
	value != ""
}
