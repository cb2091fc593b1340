# METADATA
# title: What the tests of the rules share
package lib.testing

# Five ways to lose each field: removed, null, "", [] and {}. A path is a list of keys.
dropped(object, paths) := [variant |
	some path in paths
	some variant in array.concat(
		[json.patch(object, [{"op": "remove", "path": path}])],
		[json.patch(object, [{"op": "replace", "path": path, "value": value}]) | some value in [null, "", [], {}]],
	)
]

# Where the violations point: spec.containers.0.image and the like.
paths(violations) := {place(v.path) | some v in violations}

place(path) := concat(".", [sprintf("%v", [segment]) | some segment in path])

# Names of the containers the violations speak of.
names(violations) := {v.container | some v in violations}

# Workloads around a pod spec.
pod(spec) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}, "spec": spec}

deployment(spec) := {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ml"}, "spec": {
	"replicas": 2,
	"template": {"metadata": {"labels": {"app": "d"}}, "spec": spec},
}}

job(spec) := {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ml"}, "spec": {"template": {"spec": spec}}}

cron_job(spec) := {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": "ml"}, "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}}

ray_cluster(head, worker) := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "namespace": "ml"}, "spec": {
	"headGroupSpec": {"template": {"spec": head}},
	"workerGroupSpecs": [{"template": {"spec": worker}}],
}}

inference_service(predictor) := {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "i", "namespace": "ml"}, "spec": {"predictor": predictor}}

config_map := {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "ml"}, "data": {"a": "b"}}

# A pod spec with one container of each type, all with the same extra fields.
every_type(extra) := {
	"containers": [object.union({"name": "main"}, extra)],
	"initContainers": [
		object.union({"name": "init"}, extra),
		object.union({"name": "sidecar", "restartPolicy": "Always"}, extra),
	],
	"ephemeralContainers": [object.union({"name": "debugger"}, extra)],
}
