package pod.seccomp_baseline_test

import data.lib.testing
import data.pod.seccomp_baseline

profile(name) := {"securityContext": {"seccompProfile": {"type": name}}}

test_containers_of_every_type if {
	violations := seccomp_baseline.violations with input as testing.pod(testing.every_type(profile("Unconfined")))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_pod_level if {
	violations := seccomp_baseline.violations with input as testing.cron_job(profile("Unconfined"))
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.securityContext.seccompProfile.type"}
}

test_passes if {
	every name in ["RuntimeDefault", "Localhost"] {
		seccomp_baseline.applies with input as testing.pod(testing.every_type(profile(name)))
		seccomp_baseline.violations == set() with input as testing.pod(testing.every_type(profile(name)))
		seccomp_baseline.violations == set() with input as testing.pod(profile(name))
	}
	seccomp_baseline.violations == set() with input as testing.pod({"containers": [{"name": "a"}]})
}

annotated(key, value) := json.patch(testing.deployment({"containers": [{"name": "a"}]}), [{
	"op": "add",
	"path": ["spec", "template", "metadata", "annotations"],
	"value": {key: value},
}])

test_annotations_of_older_clusters if {
	every key in ["seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/a"] {
		every value in ["unconfined", "Unconfined", "off", true] {
			violations := seccomp_baseline.violations with input as annotated(key, value)
			testing.paths(violations) == {concat(".", ["spec.template.metadata.annotations", key])}
		}
		every value in ["runtime/default", "docker/default", "localhost/profiles/a.json", "", null] {
			seccomp_baseline.violations == set() with input as annotated(key, value)
		}
	}
	seccomp_baseline.violations == set() with input as annotated("example.test/seccomp", "unconfined")
}

test_dropped_fields if {
	subject := testing.pod({"containers": [object.union({"name": "a"}, profile("Unconfined"))]})
	security := ["spec", "containers", 0, "securityContext"]
	every variant in testing.dropped(subject, [security]) {
		seccomp_baseline.violations == set() with input as variant
		seccomp_baseline.applies with input as variant
	}
	seccomp_baseline.violations == set() with input as testing.pod({"containers": [{"securityContext": {"seccompProfile": null}}]})

	# A profile without a type is none of the allowed ones.
	every variant in testing.dropped(subject, [array.concat(security, ["seccompProfile", "type"])]) {
		count(seccomp_baseline.violations) == 1 with input as variant
	}
}

test_no_pod_no_question if {
	seccomp_baseline.applies == false with input as testing.config_map
	seccomp_baseline.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
