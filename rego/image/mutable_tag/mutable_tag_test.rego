package image.mutable_tag_test

import data.image.mutable_tag
import data.lib.testing

hex := "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

one(reference) := testing.pod({"containers": [{"name": "a", "image": reference}]})

test_moving_tags if {
	every reference in [
		"nginx", "docker.io/library/nginx", "ghcr.io/org/app:latest", "registry.example.test:5000/app",
		"registry.example.test:5000/app:latest", "localhost/app", "app:main", "app:nightly",
	] {
		mutable_tag.applies with input as one(reference)
		count(mutable_tag.violations) == 1 with input as one(reference)
	}
}

test_passes if {
	every reference in [
		"nginx:1.27", "localhost:5000/app:2", "[2001:db8::1]:5000/app:3", "app:5000",
		concat("@sha256:", ["myorg/app", hex]), concat("@sha256:", ["myorg/app:latest", hex]),
	] {
		mutable_tag.applies with input as one(reference)
		mutable_tag.violations == set() with input as one(reference)
	}
}

test_containers_of_every_type if {
	violations := mutable_tag.violations with input as testing.pod(testing.every_type({"image": "app"}))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := mutable_tag.violations with input as testing.ray_cluster({"containers": [{"name": "h", "image": "rayproject/ray"}]}, {"containers": [{"name": "w", "image": "rayproject/ray:2.49.0"}]})
	testing.paths(violations) == {"spec.headGroupSpec.template.spec.containers.0.image"}
}

test_parameter if {
	parameters := {"image/mutable-tag": {"mutable_tags": ["rolling"]}}
	count(mutable_tag.violations) == 1 with input as one("app:rolling") with data.parameters as parameters
	mutable_tag.violations == set() with input as one("app") with data.parameters as parameters
}

test_invalid_references_do_not_pass if {
	every reference in ["UPPER/Case:1", "app:", "app@sha256:short", "$(IMAGE):$(TAG)", "{{ .Values.image }}", "", null, 5, [], {}] {
		mutable_tag.applies with input as one(reference)
		count(mutable_tag.violations) == 1 with input as one(reference)
	}
}

test_dropped_fields if {
	every variant in testing.dropped(one("nginx:1.27"), [["spec", "containers", 0, "image"]]) {
		mutable_tag.applies with input as variant
		count(mutable_tag.violations) == 1 with input as variant
	}
	every variant in testing.dropped(one("nginx:1.27"), [["spec", "containers", 0, "name"]]) {
		mutable_tag.applies with input as variant
		mutable_tag.violations == set() with input as variant
	}
}

test_a_model_without_image_is_not_asked if {
	mutable_tag.applies == false with input as testing.inference_service({"model": {"args": []}})
}

with_volume(image) := testing.pod({"containers": [], "volumes": [{"name": "weights", "image": image}]})

test_latest_with_something_around_it if {
	every tag in ["latest-cuda", "cu12-latest", "v2.latest", "Latest", "LATEST", "Main", "latest_gpu"] {
		count(mutable_tag.violations) == 1 with input as one(concat(":", ["app", tag]))
	}
	every tag in ["latestish", "v1-main", "nightly-20250101", "1.2"] {
		mutable_tag.violations == set() with input as one(concat(":", ["app", tag]))
	}
}

test_images_of_volumes if {
	violations := mutable_tag.violations with input as with_volume({"reference": "r.test/m"})
	testing.paths(violations) == {"spec.volumes.0.image.reference"}
	mutable_tag.violations == set() with input as with_volume({"reference": "r.test/m:v1"})
}

test_no_pod_no_question if {
	mutable_tag.applies == false with input as testing.config_map
	mutable_tag.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
