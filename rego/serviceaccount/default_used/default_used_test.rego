package serviceaccount.default_used_test

import data.lib.testing
import data.serviceaccount.default_used

test_passes if {
	every spec in [{"serviceAccountName": "s"}, {"serviceAccount": "old"}] {
		default_used.applies with input as testing.pod(spec)
		default_used.violations == set() with input as testing.pod(spec)
	}
}

test_fails if {
	every spec in [{"serviceAccountName": "default"}, {"serviceAccount": "default"}, {"containers": []}, {"serviceAccountName": 5}] {
		count(default_used.violations) == 1 with input as testing.pod(spec)
	}
}

test_nested_templates if {
	violations := default_used.violations with input as testing.cron_job({"containers": []})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.serviceAccountName"}
	ray := default_used.violations with input as testing.ray_cluster({"serviceAccountName": "s"}, {"containers": []})
	testing.paths(ray) == {"spec.workerGroupSpecs.0.template.spec.serviceAccountName"}
}

test_not_asked_without_a_token if {
	default_used.applies == false with input as testing.pod({"automountServiceAccountToken": false})
}

test_dropped_fields if {
	every variant in testing.dropped(testing.pod({"serviceAccountName": "s"}), [["spec", "serviceAccountName"]]) {
		default_used.applies with input as variant
		count(default_used.violations) == 1 with input as variant
	}
	every variant in testing.dropped(testing.pod({"automountServiceAccountToken": false}), [["spec", "automountServiceAccountToken"]]) {
		default_used.applies with input as variant
		count(default_used.violations) == 1 with input as variant
	}
}

test_no_pod_no_question if {
	default_used.applies == false with input as testing.config_map
	default_used.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
