package image.registry_allowed_test

import data.image.registry_allowed
import data.lib.testing

hex := "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

one(reference) := testing.pod({"containers": [{"name": "a", "image": reference}]})

parameters := {"image/registry-allowed": {"registries": ["registry.example.test:5000", "ghcr.io/team/", "*.corp.test"]}}

test_not_asked_without_a_list if {
	registry_allowed.applies == false with input as one("nginx")
}

test_passes if {
	every reference in ["registry.example.test:5000/x:1", "ghcr.io/team/app", "ghcr.io/team/deep/app:1", "a.b.corp.test/x"] {
		registry_allowed.applies with input as one(reference) with data.parameters as parameters
		registry_allowed.violations == set() with input as one(reference) with data.parameters as parameters
	}
}

test_fails if {
	every reference in [
		"nginx", "registry.example.test/x", "ghcr.io/teams/app", "ghcr.io/other", "corp.test/x", "evilcorp.test/x",
		"docker.io/registry.example.test/x",
	] {
		count(registry_allowed.violations) == 1 with input as one(reference) with data.parameters as parameters
	}
}

test_containers_of_every_type if {
	violations := registry_allowed.violations with input as testing.pod(testing.every_type({"image": "app"})) with data.parameters as parameters
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_nested_template if {
	violations := registry_allowed.violations with input as testing.cron_job({"containers": [{"name": "a", "image": "a:1"}]}) with data.parameters as parameters
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.image"}
}

test_invalid_references_do_not_pass if {
	every reference in ["app:", "$(IMAGE):$(TAG)", "", null, 5] {
		count(registry_allowed.violations) == 1 with input as one(reference) with data.parameters as parameters
	}
}

test_dropped_fields if {
	every variant in testing.dropped(one("ghcr.io/team/app"), [["spec", "containers", 0, "image"]]) {
		registry_allowed.applies with input as variant with data.parameters as parameters
		count(registry_allowed.violations) == 1 with input as variant with data.parameters as parameters
	}
}

with_volume(image) := testing.pod({"containers": [], "volumes": [{"name": "weights", "image": image}]})

test_images_of_volumes if {
	violations := registry_allowed.violations with input as with_volume({"reference": "evil.test/m:v1"}) with data.parameters as parameters
	testing.paths(violations) == {"spec.volumes.0.image.reference"}
	registry_allowed.violations == set() with input as with_volume({"reference": "ghcr.io/team/m:v1"}) with data.parameters as parameters
}

test_no_pod_no_question if {
	registry_allowed.applies == false with input as testing.config_map
	registry_allowed.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
