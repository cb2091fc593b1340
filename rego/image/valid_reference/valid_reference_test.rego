package image.valid_reference_test

import data.image.valid_reference
import data.lib.testing

hex := "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

one(reference) := testing.pod({"containers": [{"name": "a", "image": reference}]})

test_passes if {
	every reference in [
		"nginx", "nginx:1.27", "docker.io/library/nginx", "localhost:5000/app:2", "[2001:db8::1]:5000/app:3", "UPPER/case:1",
		concat("@sha256:", ["registry.example.test:5000/team/app:1.2", hex]),
	] {
		valid_reference.applies with input as one(reference)
		valid_reference.violations == set() with input as one(reference)
	}
}

test_containers_of_every_type if {
	violations := valid_reference.violations with input as testing.pod(testing.every_type({"image": "app:"}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := valid_reference.violations with input as testing.cron_job({"containers": [{"name": "a", "image": "$(IMAGE)"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.image"}
	{v.message | some v in violations} == {"container a: image reference: template that nothing has filled in"}
}

test_invalid_references_do_not_pass if {
	every reference in ["UPPER/Case:1", "app:", "app@sha256:short", "$(IMAGE):$(TAG)", "{{ .Values.image }}", "", null, 5, [], {}] {
		valid_reference.applies with input as one(reference)
		count(valid_reference.violations) == 1 with input as one(reference)
	}
}

test_dropped_fields if {
	every variant in testing.dropped(one("nginx"), [["spec", "containers", 0, "image"]]) {
		valid_reference.applies with input as variant
		count(valid_reference.violations) == 1 with input as variant
	}
	every variant in testing.dropped(one("nginx"), [["spec", "containers", 0, "name"]]) {
		valid_reference.applies with input as variant
		valid_reference.violations == set() with input as variant
	}
}

test_a_model_without_image_is_not_asked if {
	valid_reference.applies == false with input as testing.inference_service({"model": {"args": []}})
}

with_volume(image) := testing.pod({"containers": [], "volumes": [{"name": "weights", "image": image}]})

test_images_of_volumes if {
	every value in ["UPPER/Case:1", "", null, 5, "{{ .Values.model }}"] {
		violations := valid_reference.violations with input as with_volume({"reference": value})
		testing.paths(violations) == {"spec.volumes.0.image.reference"}
	}
	valid_reference.violations == set() with input as with_volume({"reference": "r.test/m:v1"})
}

test_no_pod_no_question if {
	valid_reference.applies == false with input as testing.config_map
	valid_reference.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
