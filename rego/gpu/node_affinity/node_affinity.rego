# METADATA
# scope: package
# title: GPU pods say which nodes they need
# description: |
#   A pod that asks for a GPU must select GPU nodes, by nodeSelector, by required node affinity, or at least tolerate their
#   taint. Otherwise it takes whatever model of GPU is free, and tainted GPU nodes refuse it.
# related_resources:
# - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/#manage-clusters-with-different-types-of-gpus
# - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# custom:
#   severity: low
#   match:
#     pod_templates: true
#   not_applicable: no_gpu_asked_for
#   remediation: Select the label that the GPU feature discovery or the cloud puts on GPU nodes, see the parameter labels.
#   fix: |
#     spec:
#       nodeSelector:
#         nvidia.com/gpu.present: "true"
package gpu.node_affinity

import data.lib.gpu
import data.lib.object as obj
import data.lib.workload

default applies := false

applies if count(templates) > 0

templates := [asking.template | some asking in gpu.asking; not asking.template.partial]

violations contains violation if {
	applies
	some template in templates
	not placed(template.spec)
	violation := {
		"path": workload.field_path(template, "nodeSelector"),
		"message": "asks for a GPU without selecting or tolerating GPU nodes",
		"seen": object.get(template.spec, "nodeSelector", null),
		"expected": "a label of GPU nodes, for example nvidia.com/gpu.present",
	}
}

default placed(_) := false

placed(spec) if {
	some key, value in obj.mapping(spec, ["nodeSelector"])
	gpu_label(key)
	not value in {"false", false}
}

# Terms are alternatives, so each of them must ask for a GPU label.
placed(spec) if {
	terms := obj.list(spec, [
		"affinity",
		"nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution",
		"nodeSelectorTerms",
	])
	count(terms) > 0
	every term in terms {
		some expression in obj.list(term, ["matchExpressions"])
		gpu_label(obj.text(expression, ["key"]))
		obj.text(expression, ["operator"]) in {"In", "Exists", "Gt"}
		obj.list(expression, ["values"]) != ["false"]
	}
}

placed(spec) if {
	some toleration in obj.list(spec, ["tolerations"])
	gpu_label(obj.text(toleration, ["key"]))
}

default gpu_label(_) := false

gpu_label(key) if {
	some entry in data.parameters["gpu/node-affinity"].labels
	gpu.matches(key, entry)
}
