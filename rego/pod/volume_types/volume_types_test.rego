package pod.volume_types_test

import data.lib.testing
import data.pod.volume_types

volumes(list) := {"containers": [{"name": "a"}], "volumes": list}

test_inline_types if {
	types := [
		"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume",
		"cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "portworxVolume",
		"photonPersistentDisk", "scaleIO", "storageos", "somethingNew",
	]
	every type in types {
		violations := volume_types.violations with input as testing.cron_job(volumes([{"name": "v", type: {}}]))
		testing.paths(violations) == {concat(".", ["spec.jobTemplate.spec.template.spec.volumes.0", type])}
	}
}

test_plain_types if {
	every type in ["configMap", "downwardAPI", "emptyDir", "projected", "secret", "csi", "persistentVolumeClaim", "ephemeral", "image"] {
		subject := testing.pod(volumes([{"name": "v", type: {}}]))
		volume_types.applies with input as subject
		volume_types.violations == set() with input as subject
	}
}

test_volume_without_source_is_an_empty_dir if {
	volume_types.violations == set() with input as testing.pod(volumes([{"name": "v"}, {"name": "w", "nfs": null, "emptyDir": null}]))
}

test_dropped_fields if {
	subject := testing.pod(volumes([{"name": "v", "nfs": {"server": "x"}}]))
	every variant in testing.dropped(subject, [["spec", "volumes"], ["spec", "volumes", 0]]) {
		volume_types.violations == set() with input as variant
		volume_types.applies with input as variant
	}
	every variant in testing.dropped(subject, [["spec", "volumes", 0, "name"]]) {
		count(volume_types.violations) == 1 with input as variant
	}
	volume_types.violations == set() with input as testing.pod(volumes([{"name": "v", "nfs": null}]))

	# A plain type that is null is not there.
	count(volume_types.violations) == 1 with input as testing.pod(volumes([{"name": "v", "emptyDir": null, "nfs": {}}]))
}

test_no_pod_no_question if {
	volume_types.applies == false with input as testing.config_map
	volume_types.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
