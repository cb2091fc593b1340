package pod.seccomp_restricted_test

import data.lib.testing
import data.pod.seccomp_restricted

profile(name) := {"securityContext": {"seccompProfile": {"type": name}}}

test_pod_level_covers_every_container if {
	every name in ["RuntimeDefault", "Localhost"] {
		subject := testing.pod(object.union(profile(name), testing.every_type({})))
		seccomp_restricted.applies with input as subject
		seccomp_restricted.violations == set() with input as subject
	}
}

test_container_level_is_enough if {
	seccomp_restricted.violations == set() with input as testing.pod(testing.every_type(profile("Localhost")))
}

test_the_container_wins if {
	violations := seccomp_restricted.violations with input as testing.pod(object.union(profile("RuntimeDefault"), testing.every_type(profile("Unconfined"))))
	testing.names(violations) == {"main", "init", "sidecar", "debugger"}
}

test_a_bad_pod_profile_fails_whatever_the_containers_say if {
	violations := seccomp_restricted.violations with input as testing.pod(object.union(profile("Unconfined"), testing.every_type(profile("Localhost"))))
	testing.paths(violations) == {"spec.securityContext.seccompProfile.type"}
}

test_path_of_what_is_missing if {
	violations := seccomp_restricted.violations with input as testing.cron_job({"containers": [{"name": "a"}]})
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.containers.0.securityContext.seccompProfile.type"}
	{v.message | some v in violations} == {"container a has no seccomp profile"}
}

test_windows if {
	seccomp_restricted.applies == false with input as testing.pod({"os": {"name": "windows"}, "containers": [{"name": "a"}]})
}

test_dropped_fields if {
	subject := testing.pod(object.union(profile("RuntimeDefault"), testing.every_type({})))
	every variant in testing.dropped(subject, [["spec", "securityContext"]]) {
		count(seccomp_restricted.violations) == 4 with input as variant
		seccomp_restricted.applies with input as variant
	}

	# A profile without a type is none of the allowed ones.
	every variant in testing.dropped(subject, [["spec", "securityContext", "seccompProfile"], ["spec", "securityContext", "seccompProfile", "type"]]) {
		count(seccomp_restricted.violations) > 0 with input as variant
		seccomp_restricted.applies with input as variant
	}
}

test_partial_container_is_judged_on_what_it_says if {
	seccomp_restricted.applies == false with input as testing.inference_service({"model": {"args": []}})
	count(seccomp_restricted.violations) == 1 with input as testing.inference_service({"model": profile("Unconfined")})
}

test_no_pod_no_question if {
	seccomp_restricted.applies == false with input as testing.config_map
	seccomp_restricted.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
