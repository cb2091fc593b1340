package pod.apparmor_test

import data.lib.testing
import data.pod.apparmor

profile(name) := {"securityContext": {"appArmorProfile": {"type": name}}}

test_containers_of_every_type if {
	violations := apparmor.violations with input as testing.pod(testing.every_type(profile("Unconfined")))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_pod_level if {
	violations := apparmor.violations with input as testing.cron_job(profile("Unconfined"))
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.securityContext.appArmorProfile.type"}
}

annotated(value) := object.union(
	testing.pod({"containers": [{"name": "a"}]}),
	{"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/a": value, "other": "unconfined"}}},
)

test_annotation if {
	violations := apparmor.violations with input as annotated("unconfined")
	testing.paths(violations) == {"metadata.annotations.container.apparmor.security.beta.kubernetes.io/a"}
	testing.names(violations) == {"a"}
	every value in ["runtime/default", "localhost/x", "", null] {
		apparmor.violations == set() with input as annotated(value)
	}
	count(apparmor.violations) == 1 with input as annotated(5)
}

test_annotation_of_an_inlined_pod_spec if {
	key := "container.apparmor.security.beta.kubernetes.io/a"
	violations := apparmor.violations with input as testing.inference_service({"annotations": {key: "unconfined"}, "containers": [{"name": "a"}]})
	testing.paths(violations) == {concat(".", ["spec.predictor.annotations", key])}
}

test_passes if {
	every name in ["RuntimeDefault", "Localhost"] {
		apparmor.applies with input as testing.pod(testing.every_type(profile(name)))
		apparmor.violations == set() with input as testing.pod(testing.every_type(profile(name)))
		apparmor.violations == set() with input as testing.pod(profile(name))
	}
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, profile("Unconfined"))]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [security]) {
		apparmor.violations == set() with input as variant
		apparmor.applies with input as variant
	}
	apparmor.violations == set() with input as testing.pod({"containers": [{"securityContext": {"appArmorProfile": null}}]})

	# A profile without a type is none of the allowed ones.
	every variant in testing.dropped(subject, [array.concat(security, ["appArmorProfile", "type"])]) {
		count(apparmor.violations) == 1 with input as variant
	}
	every variant in testing.dropped(annotated("unconfined"), [["metadata"], ["metadata", "annotations"]]) {
		apparmor.violations == set() with input as variant
	}
}

test_no_pod_no_question if {
	apparmor.applies == false with input as testing.config_map
	apparmor.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
