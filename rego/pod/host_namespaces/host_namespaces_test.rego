package pod.host_namespaces_test

import data.lib.testing
import data.pod.host_namespaces

bad := {"hostNetwork": true, "hostPID": true, "hostIPC": true, "containers": [{"name": "a"}]}

test_each_namespace if {
	violations := host_namespaces.violations with input as testing.pod(bad)
	testing.paths(violations) == {"spec.hostNetwork", "spec.hostPID", "spec.hostIPC"}
}

test_nested_templates if {
	violations := host_namespaces.violations with input as testing.cron_job({"hostPID": true})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.hostPID"}

	others := host_namespaces.violations with input as testing.ray_cluster({}, {"hostNetwork": true})
	testing.paths(others) == {"spec.workerGroupSpecs.0.template.spec.hostNetwork"}
}

test_a_workflow_says_it_once if {
	template := {"container": {"image": "a"}}
	subject := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"hostNetwork": true, "templates": [template, template]}}
	violations := host_namespaces.violations with input as subject
	count(violations) == 1
	testing.paths(violations) == {"spec.hostNetwork"}
}

test_passes if {
	subject := testing.pod({"hostNetwork": false, "containers": [{"name": "a"}]})
	host_namespaces.applies with input as subject
	host_namespaces.violations == set() with input as subject
}

test_dropped_fields if {
	some field in ["hostNetwork", "hostPID", "hostIPC"]
	every variant in testing.dropped(testing.pod(bad), [["spec", field]]) {
		some_left := host_namespaces.violations with input as variant
		count(some_left) >= 2
	}
	every variant in testing.dropped(testing.pod({"hostPID": true}), [["spec"]]) {
		host_namespaces.violations == set() with input as variant
	}
}

test_empty_counts_as_off if {
	every value in [false, null, ""] {
		host_namespaces.violations == set() with input as testing.pod({"hostNetwork": value, "hostPID": value, "hostIPC": value})
	}
	every value in [true, "true", 1] {
		count(host_namespaces.violations) == 1 with input as testing.pod({"hostNetwork": value})
	}
}

test_no_pod_no_question if {
	host_namespaces.applies == false with input as testing.config_map
	host_namespaces.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
