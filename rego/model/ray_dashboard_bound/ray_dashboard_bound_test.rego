package model.ray_dashboard_bound_test

import data.lib.expect
import data.model.ray_dashboard_bound as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

cluster(start) := {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": {"headGroupSpec": {
	"rayStartParams": start,
	"template": {"spec": {"containers": [{"name": "head", "image": "rayproject/ray:2.52.0"}]}},
}}}

bad := cluster({"dashboard-host": "0.0.0.0"})

pod(args, env) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{
	"name": "head",
	"command": ["ray", "start", "--head"],
	"args": args,
	"env": env,
}]}}

token := [{"name": "RAY_AUTH_MODE", "value": "token"}]

test_fails_when_bound_everywhere if {
	paths(bad) == {["spec", "headGroupSpec", "rayStartParams", "dashboard-host"]}
}

test_kuberay_binds_everywhere_by_default if {
	every path in [["spec", "headGroupSpec", "rayStartParams"], ["spec", "headGroupSpec", "rayStartParams", "dashboard-host"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "fail"
		}
	}
}

test_passes_when_local_or_off if {
	outcome(cluster({"dashboard-host": "127.0.0.1"})) == "pass"
	outcome(cluster({"include-dashboard": "false"})) == "pass"
}

test_passes_with_a_token if {
	outcome(expect.replaced(bad, ["spec", "authOptions"], {"mode": "token"})) == "pass"
	outcome(expect.replaced(bad, ["spec", "authOptions"], {"mode": "disabled"})) == "fail"
	outcome(expect.replaced(bad, ["spec", "headGroupSpec", "template", "spec", "containers", 0, "env"], token)) == "pass"
	sidecar := {"name": "log", "env": token}
	outcome(expect.replaced(bad, ["spec", "headGroupSpec", "template", "spec", "containers", 1], sidecar)) == "fail"
	every variant in expect.without(
		expect.replaced(bad, ["spec", "authOptions"], {"mode": "token"}),
		["spec", "authOptions", "mode"],
	) {
		outcome(variant) == "fail"
	}
}

test_jobs_and_services_of_ray if {
	job := {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "j"}, "spec": {"rayClusterSpec": bad.spec}}
	paths(job) == {["spec", "rayClusterSpec", "headGroupSpec", "rayStartParams", "dashboard-host"]}
}

test_pods_that_start_a_head if {
	paths(pod(["--dashboard-host=0.0.0.0"], [])) == {["spec", "containers", 0, "args", 0]}
	outcome(pod(["--dashboard-host", "0.0.0.0"], [])) == "fail"
	outcome(pod(["--dashboard-host=127.0.0.1"], [])) == "pass"
	outcome(pod([], [])) == "pass"
	outcome(pod(["--dashboard-host=0.0.0.0"], token)) == "pass"
}

test_does_not_apply_without_head if {
	every path in [["spec"], ["spec", "headGroupSpec"]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
	worker := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{
		"name": "w",
		"command": ["ray", "start", "--address=head:6379"],
	}]}}
	outcome(worker) == "skip"
}

test_another_local_address if {
	outcome(cluster({"dashboard-host": "10.0.0.1"})) == "pass" with data.parameters["model/ray-dashboard-bound"].local_addresses as ["10.0.0.1"]
}

test_answers_whatever_is_damaged if {
	every object in [bad, pod(["--dashboard-host=0.0.0.0"], token)] {
		every variant in expect.damaged(object) {
			outcome(variant) in {"skip", "pass", "fail"}
		}
	}
}
