package model.trust_remote_code_test

import data.lib.expect
import data.model.trust_remote_code as rule

outcome(object) := expect.outcome(applies, violations) if {
	applies := rule.applies with input as object
	violations := rule.violations with input as object
}

paths(object) := {violation.path | some violation in rule.violations with input as object}

pod(container) := {
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {"name": "p", "namespace": "serving", "labels": {"app": "vllm"}},
	"spec": {"containers": [object.union({"name": "c"}, container)]},
}

serve(args) := pod({"image": "vllm/vllm-openai:v0.11.0", "args": args})

bad := serve(["--trust-remote-code", "--model=m"])

variable(value) := pod({"image": "ghcr.io/huggingface/text-generation-inference:3", "env": [{"name": "TRUST_REMOTE_CODE", "value": value}]})

ray(trust) := {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "r"}, "spec": {"serveConfigV2": yaml.marshal({"applications": [{"args": {"llm_configs": [{
	"model_loading_config": {"model_id": "m"},
	"engine_kwargs": {"trust_remote_code": trust},
}]}}]})}}

test_fails_on_the_flag if {
	paths(bad) == {["spec", "containers", 0, "args", 0]}
	outcome(serve(["--trust_remote_code"])) == "fail"
	outcome(serve(["--trust-remote-code=true"])) == "fail"
	outcome(serve(["--trust-remote-code", "true"])) == "fail"
	outcome(pod({"image": "own:1", "command": ["bash", "-c"], "args": ["exec vllm serve m --trust-remote-code"]})) == "fail"
	outcome(pod({"image": "lmsysorg/sglang:v0.5", "command": ["python3", "-m", "sglang.launch_server", "--trust-remote-code"]})) == "fail"
}

test_passes_without if {
	outcome(serve(["--model=m"])) == "pass"
	outcome(serve(["--trust-remote-code=false"])) == "pass"
	outcome(serve(["--no-trust-remote-code"])) == "pass"
	every variant in expect.without(bad, ["spec", "containers", 0, "args"]) {
		outcome(variant) == "pass"
	}
}

test_variables if {
	paths(variable("true")) == {["spec", "containers", 0, "env", 0, "value"]}
	outcome(variable("false")) == "pass"
	every variant in expect.without(variable("true"), ["spec", "containers", 0, "env", 0, "value"]) {
		outcome(variant) == "pass"
	}
}

test_ray_serve if {
	paths(ray(true)) == {["spec", "serveConfigV2"]}
	every value in ["true", "True", "yes"] {
		outcome(ray(value)) == "fail"
	}
	every value in [false, "false", null, "", 7] {
		outcome(ray(value)) == "pass"
	}
	every variant in expect.without(ray(true), ["spec", "serveConfigV2"]) {
		outcome(variant) == "skip"
	}
}

test_another_flag if {
	outcome(serve(["--run-anything"])) == "fail" with data.parameters["model/trust-remote-code"].flags as ["--run-anything"]
}

test_does_not_apply_without_model_server if {
	outcome(pod({"image": "nginx:1", "args": ["--model=gpt2", "--trust-remote-code"]})) == "skip"
	every path in [["spec"], ["spec", "containers"], ["spec", "containers", 0]] {
		every variant in expect.without(bad, path) {
			outcome(variant) == "skip"
		}
	}
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(bad) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}
