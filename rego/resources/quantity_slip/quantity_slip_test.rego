package resources.quantity_slip_test

import data.lib.testing
import data.resources.quantity_slip

with_value(kind, name, value) := testing.pod({"containers": [{"name": "a", "resources": {kind: {name: value}}}]})

slips := [
	["memory", "3500m"], ["memory", 512], ["memory", "1023Ki"], ["memory", "Gi"], ["memory", "."], ["memory", "1GB"],
	["memory", "1gi"], ["memory", "1 Gi"], ["memory", "-1Gi"], ["memory", true], ["ephemeral-storage", "100m"],
	["cpu", "0.0001"], ["cpu", "500n"], ["cpu", 2000], ["cpu", "513"], ["cpu", "1K"], ["nvidia.com/gpu", "one"],
	["memory", ""], ["memory", []], ["memory", {}], ["hugepages-2Mi", "4m"], ["example.test/thing", "lots"],
]

fine := [
	["memory", "1Gi"], ["memory", "1024Mi"], ["memory", "1288490188800m"], ["memory", "129e6"], ["memory", 1048576],
	["memory", "0"], ["memory", 0], ["cpu", "100m"], ["cpu", 0.1], ["cpu", "512"], ["cpu", "1m"], ["nvidia.com/gpu", 1],
	["memory", null], ["hugepages-2Mi", "4Mi"], ["example.test/thing", 3], ["example.test/thing", "100m"],
]

test_slips if {
	every pair in slips {
		every kind in ["requests", "limits"] {
			quantity_slip.applies with input as with_value(kind, pair[0], pair[1])
			violations := quantity_slip.violations with input as with_value(kind, pair[0], pair[1])
			testing.paths(violations) == {concat(".", ["spec.containers.0.resources", kind, pair[0]])}
		}
	}
}

test_passes if {
	every pair in fine {
		quantity_slip.violations == set() with input as with_value("limits", pair[0], pair[1])
		quantity_slip.applies with input as with_value("limits", pair[0], pair[1])
	}
}

test_containers_of_every_type if {
	violations := quantity_slip.violations with input as testing.pod(testing.every_type({"resources": {"limits": {"memory": "1m"}}}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_the_whole_pod if {
	violations := quantity_slip.violations with input as testing.cron_job({"resources": {"limits": {"memory": "1m"}}})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.resources.limits.memory"}
}

test_a_model_too if {
	count(quantity_slip.violations) == 1 with input as testing.inference_service({"model": {"resources": {"limits": {"memory": "8GB"}}}})
}

test_parameter if {
	parameters := {"resources/quantity-slip": {"max_cpu": 64}}
	count(quantity_slip.violations) == 1 with input as with_value("limits", "cpu", 65) with data.parameters as parameters
}

test_dropped_fields if {
	resources := ["spec", "containers", 0, "resources"]
	every variant in testing.dropped(with_value("limits", "memory", "1m"), [resources, array.concat(resources, ["limits"])]) {
		quantity_slip.violations == set() with input as variant
		quantity_slip.applies == false with input as variant
	}
	every variant in testing.dropped(with_value("limits", "memory", "1m"), [array.concat(resources, ["limits", "memory"])]) {
		gone := object.get(variant, array.concat(resources, ["limits", "memory"]), null) == null
		count(quantity_slip.violations) == count([1 | gone == false]) with input as variant
	}
}

with_volume(source) := testing.pod({"containers": [{"name": "a"}], "volumes": [object.union({"name": "cache"}, source)]})

claim(value) := {"spec": {"resources": {"requests": {"storage": value}}}}

wrong_sizes := ["10GB", "1gi", "", "512", 512, "100m", "-1Gi", "Gi", true, []]

right_sizes := ["10Gi", "0", 0, 1073741824, null, "1e9"]

found(object) := testing.paths(violations) if {
	quantity_slip.applies with input as object
	violations := quantity_slip.violations with input as object
}

test_sizes_of_volumes if {
	every value in wrong_sizes {
		found(with_volume({"emptyDir": {"sizeLimit": value}})) == {"spec.volumes.0.emptyDir.sizeLimit"}
		found(with_volume({"ephemeral": {"volumeClaimTemplate": claim(value)}})) == {"spec.volumes.0.ephemeral.volumeClaimTemplate.spec.resources.requests.storage"}
	}
	every value in right_sizes {
		found(with_volume({"emptyDir": {"sizeLimit": value}})) == set()
		found(with_volume({"ephemeral": {"volumeClaimTemplate": claim(value)}})) == set()
	}
	every source in [{"emptyDir": {}}, {"emptyDir": {"medium": "Memory"}}, {"configMap": {"name": "c"}}, {"ephemeral": null}] {
		quantity_slip.applies == false with input as with_volume(source)
	}
}

test_claims_and_their_templates if {
	every value in wrong_sizes {
		found(object.union({"apiVersion": "v1", "kind": "PersistentVolumeClaim"}, claim(value))) == {"spec.resources.requests.storage"}
		stateful := {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"volumeClaimTemplates": [claim(value)]}}
		found(stateful) == {"spec.volumeClaimTemplates.0.spec.resources.requests.storage"}
		volume := {"apiVersion": "v1", "kind": "PersistentVolume", "spec": {"capacity": {"storage": value}}}
		found(volume) == {"spec.capacity.storage"}
	}
	found(object.union({"apiVersion": "v1", "kind": "PersistentVolumeClaim"}, claim("10Gi"))) == set()
}

quota(hard) := {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard}}

test_quotas if {
	found(quota({"requests.memory": "64", "limits.cpu": "500n", "pods": "ten", "gold.storageclass.storage.k8s.io/requests.storage": "5m"})) == {
		"spec.hard.requests.memory",
		"spec.hard.limits.cpu",
		"spec.hard.pods",
		"spec.hard.gold.storageclass.storage.k8s.io/requests.storage",
	}
	found(quota({"requests.cpu": "2000", "memory": "1Ti", "pods": 10, "requests.nvidia.com/gpu": "8", "services": "0"})) == set()
	every empty in [null, {}, [], ""] {
		quantity_slip.applies == false with input as quota(empty)
	}
}

range_of(limit) := {"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [limit]}}

test_limit_ranges if {
	every field in ["max", "min", "default", "defaultRequest"] {
		found(range_of({"type": "Container", field: {"memory": "512", "cpu": "lots"}})) == {
			concat(".", ["spec.limits.0", field, "memory"]),
			concat(".", ["spec.limits.0", field, "cpu"]),
		}
		found(range_of({"type": "Container", field: {"memory": "512Mi", "cpu": 2}})) == set()
	}
	quantity_slip.applies == false with input as range_of({"type": "Container", "maxLimitRequestRatio": {"memory": "2"}})
}

test_no_pod_no_question if {
	quantity_slip.applies == false with input as testing.config_map
	quantity_slip.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
