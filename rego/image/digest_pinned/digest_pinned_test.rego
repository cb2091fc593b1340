package image.digest_pinned_test

import data.image.digest_pinned
import data.lib.testing

hex := "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

one(reference) := testing.pod({"containers": [{"name": "a", "image": reference}]})

test_fails_without_a_digest if {
	every reference in ["nginx", "nginx:1.27", "app:5000"] {
		count(digest_pinned.violations) == 1 with input as one(reference)
	}
}

pinned := concat("@sha256:", ["registry.example.test:5000/team/app:1.2", hex])

test_passes if {
	digest_pinned.applies with input as one(pinned)
	digest_pinned.violations == set() with input as one(pinned)
}

test_containers_of_every_type if {
	violations := digest_pinned.violations with input as testing.pod(testing.every_type({"image": "app:1"}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := digest_pinned.violations with input as testing.cron_job({"containers": [{"name": "a", "image": "a:1"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.image"}
}

test_invalid_references_do_not_pass if {
	every reference in ["UPPER/Case:1", "app:", "app@sha256:short", "$(IMAGE):$(TAG)", "{{ .Values.image }}", "", null, 5, [], {}] {
		digest_pinned.applies with input as one(reference)
		count(digest_pinned.violations) == 1 with input as one(reference)
	}
}

test_dropped_fields if {
	every variant in testing.dropped(one(pinned), [["spec", "containers", 0, "image"]]) {
		digest_pinned.applies with input as variant
		count(digest_pinned.violations) == 1 with input as variant
	}
	every variant in testing.dropped(one(pinned), [["spec", "containers", 0, "name"]]) {
		digest_pinned.applies with input as variant
		digest_pinned.violations == set() with input as variant
	}
}

test_a_model_without_image_is_not_asked if {
	digest_pinned.applies == false with input as testing.inference_service({"model": {"args": []}})
}

with_volume(image) := testing.pod({"containers": [], "volumes": [{"name": "weights", "image": image}]})

test_images_of_volumes if {
	violations := digest_pinned.violations with input as with_volume({"reference": "r.test/m:v1"})
	testing.paths(violations) == {"spec.volumes.0.image.reference"}
	fixed := with_volume({"reference": concat("@sha256:", ["r.test/m", hex])})
	digest_pinned.applies with input as fixed
	digest_pinned.violations == set() with input as fixed
	every image in [{}, {"reference": null}, {"reference": ""}, {"reference": "m@sha256:short"}] {
		count(digest_pinned.violations) == 1 with input as with_volume(image)
	}
	digest_pinned.applies == false with input as with_volume(null)
}

test_no_pod_no_question if {
	digest_pinned.applies == false with input as testing.config_map
	digest_pinned.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
