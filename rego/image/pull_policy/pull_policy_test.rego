package image.pull_policy_test

import data.image.pull_policy
import data.lib.testing

hex := "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

one(reference) := testing.pod({"containers": [{"name": "a", "image": reference}]})

with_policy(reference, policy) := testing.pod({"containers": [{"name": "a", "image": reference, "imagePullPolicy": policy}]})

test_passes if {
	every subject in [
		one("app"), one("app:1"), with_policy("app:main", "Always"), with_policy("app:1", "IfNotPresent"),
		with_policy(concat("@sha256:", ["app:latest", hex]), "IfNotPresent"), with_policy("app:latest", null), with_policy("app:latest", ""),
	] {
		pull_policy.applies with input as subject
		pull_policy.violations == set() with input as subject
	}
}

test_fails if {
	every subject in [
		one("app:main"), with_policy("app", "IfNotPresent"), with_policy("app:latest", "IfNotPresent"),
		with_policy("app:1", "Never"), with_policy(concat("@sha256:", ["app", hex]), "Never"), with_policy("app:1", "always"), with_policy("app:1", 5),
	] {
		count(pull_policy.violations) == 1 with input as subject
	}
}

test_containers_of_every_type if {
	violations := pull_policy.violations with input as testing.pod(testing.every_type({"image": "app", "imagePullPolicy": "Never"}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := pull_policy.violations with input as testing.cron_job({"containers": [{"name": "a", "image": "a:dev"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.imagePullPolicy"}
}

test_dropped_policy if {
	every variant in testing.dropped(with_policy("app:main", "Always"), [["spec", "containers", 0, "imagePullPolicy"]]) {
		count(pull_policy.violations) == 1 with input as variant
	}
}

test_invalid_references_do_not_pass if {
	every reference in ["UPPER/Case:1", "app:", "app@sha256:short", "$(IMAGE):$(TAG)", "{{ .Values.image }}", "", null, 5, [], {}] {
		pull_policy.applies with input as one(reference)
		count(pull_policy.violations) == 1 with input as one(reference)
	}
}

test_dropped_fields if {
	every variant in testing.dropped(one("nginx:1.27"), [["spec", "containers", 0, "image"]]) {
		pull_policy.applies with input as variant
		count(pull_policy.violations) == 1 with input as variant
	}
	every variant in testing.dropped(one("nginx:1.27"), [["spec", "containers", 0, "name"]]) {
		pull_policy.applies with input as variant
		pull_policy.violations == set() with input as variant
	}
}

test_a_model_without_image_is_not_asked if {
	pull_policy.applies == false with input as testing.inference_service({"model": {"args": []}})
}

with_volume(image) := testing.pod({"containers": [], "volumes": [{"name": "weights", "image": image}]})

test_images_of_volumes if {
	every image in [
		{"reference": "r.test/m:main"},
		{"reference": "r.test/m:latest", "pullPolicy": "IfNotPresent"},
		{"reference": "r.test/m:v1", "pullPolicy": "Never"},
	] {
		violations := pull_policy.violations with input as with_volume(image)
		testing.paths(violations) == {"spec.volumes.0.image.pullPolicy"}
	}
	every image in [{"reference": "r.test/m:latest"}, {"reference": "r.test/m:main", "pullPolicy": "Always"}, {"reference": "r.test/m:v1"}] {
		pull_policy.violations == set() with input as with_volume(image)
	}
}

test_no_pod_no_question if {
	pull_policy.applies == false with input as testing.config_map
	pull_policy.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
