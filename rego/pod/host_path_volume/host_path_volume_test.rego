package pod.host_path_volume_test

import data.lib.testing
import data.pod.host_path_volume

volume := {"name": "sock", "hostPath": {"path": "/run/containerd"}}

test_path_reaches_the_cron_job if {
	violations := host_path_volume.violations with input as testing.cron_job({"containers": [{"name": "a"}], "volumes": [volume]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.volumes.0.hostPath"}
	{v.seen | some v in violations} == {"/run/containerd"}
}

test_both_groups_of_a_ray_cluster if {
	violations := host_path_volume.violations with input as testing.ray_cluster({"volumes": [volume]}, {"volumes": [volume]})
	count(violations) == 2
}

test_passes if {
	subject := testing.pod({"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {}}]})
	host_path_volume.applies with input as subject
	host_path_volume.violations == set() with input as subject
}

test_dropped_fields if {
	subject := testing.pod({"volumes": [volume]})
	every variant in testing.dropped(subject, [["spec", "volumes"], ["spec", "volumes", 0]]) {
		host_path_volume.violations == set() with input as variant
		host_path_volume.applies with input as variant
	}
	every value in [{}, "", []] {
		count(host_path_volume.violations) == 1 with input as testing.pod({"volumes": [{"hostPath": value}]})
	}
	host_path_volume.violations == set() with input as testing.pod({"volumes": [{"hostPath": null}]})
}

test_no_pod_no_question if {
	host_path_volume.applies == false with input as testing.config_map
	host_path_volume.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
