package model.server_authenticated_test

import data.lib.expect
import data.model.server_authenticated as rule

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

bad := serve(["--model", "/models/m"])

with_args(image, args) := pod({"image": image, "args": args})

with_env(image, env) := pod({"image": image, "env": env})

test_fails_without_key if {
	paths(bad) == {["spec", "containers", 0, "args"]}
	outcome(serve(["--api-key"])) == "fail"
	outcome(serve(["--api-key="])) == "fail"
	outcome(serve(["--api-key", "--port=80"])) == "fail"
	every variant in expect.without(serve(["--api-key=k"]), ["spec", "containers", 0, "args"]) {
		outcome(variant) == "fail"
	}
}

test_passes_with_a_flag if {
	outcome(serve(["--api-key=k"])) == "pass"
	outcome(serve(["--api-key", "$(VLLM_KEY)"])) == "pass"
	outcome(serve(["--api_key", "k"])) == "pass"
	outcome(serve(["fleetaudit:redacted:arg_value:9-32"])) == "pass"
	outcome(serve(["--api-key", "fleetaudit:redacted:arg_value:9-32"])) == "pass"
	outcome(pod({"image": "own/image:1", "command": ["sh", "-c", "vllm serve /m \\\n --api-key $KEY"]})) == "pass"
}

test_secret_of_another_option_is_no_key if {
	outcome(serve(["--hf-token", "fleetaudit:redacted:arg_value:9-32"])) == "fail"
	outcome(serve(["--hf-token", "fleetaudit:redacted:arg_value:9-32", "--api-key", "k"])) == "pass"
}

test_reference_that_may_find_nothing_is_no_key if {
	every value in [true, false, null] {
		source := {"secretKeyRef": {"name": "s", "key": "k", "optional": value}}
		outcome(with_env("vllm/vllm-openai:v1", [{"name": "VLLM_API_KEY", "valueFrom": source}])) == {true: "fail", false: "pass"}[value == true]
	}
}

test_passes_with_a_variable if {
	from_secret := {"name": "VLLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
	passing := with_env("vllm/vllm-openai:v1", [from_secret])
	outcome(passing) == "pass"
	outcome(with_env("vllm/vllm-openai:v1", [{"name": "VLLM_API_KEY", "value": "fleetaudit:redacted:env_value:9-32"}])) == "pass"
	outcome(with_env("vllm/vllm-openai:v1", [{"name": "VLLM_API_KEY", "value": ""}])) == "fail"
	every path in [["spec", "containers", 0, "env"], ["spec", "containers", 0, "env", 0, "valueFrom"], ["spec", "containers", 0, "env", 0, "name"]] {
		every variant in expect.without(passing, path) {
			outcome(variant) == "fail"
		}
	}
}

test_each_server_by_its_own if {
	outcome(with_args("ghcr.io/huggingface/text-generation-inference:3.3", ["--api-key=k"])) == "pass"
	outcome(with_env("ghcr.io/huggingface/text-generation-inference:3.3", [{"name": "API_KEY", "value": "k"}])) == "pass"
	outcome(with_args("ghcr.io/ggml-org/llama.cpp:server-cuda", ["--api-key-file", "/etc/key"])) == "pass"
	outcome(with_args("openmmlab/lmdeploy:latest", ["lmdeploy", "serve", "api_server", "m", "--api-keys", "k"])) == "pass"
	outcome(with_args("lmsysorg/sglang:v0.5", ["--api-key", "k"])) == "pass"
}

test_servers_without_keys if {
	outcome(with_args("ollama/ollama:0.12", ["--api-key=k"])) == "fail"
	outcome(with_env("nvcr.io/nim/meta/llama3-8b-instruct:1", [{"name": "NGC_API_KEY", "value": "k"}])) == "fail"
	outcome(with_args("kserve/huggingfaceserver:v0.15", [])) == "fail"
}

test_torchserve_authenticates_by_default if {
	outcome(with_args("pytorch/torchserve:0.12.0", [])) == "pass"
	outcome(with_args("pytorch/torchserve:0.12.0", ["torchserve", "--disable-token-auth"])) == "fail"
	outcome(with_env("pytorch/torchserve:0.12.0", [{"name": "TS_DISABLE_TOKEN_AUTHORIZATION", "value": "true"}])) == "fail"
}

test_proxy_in_the_pod if {
	proxied := expect.replaced(bad, ["spec", "containers", 1], {"name": "proxy", "image": "quay.io/oauth2-proxy/oauth2-proxy:v7"})
	outcome(proxied) == "pass"
	before := expect.replaced(bad, ["spec", "initContainers"], [{"name": "proxy", "image": "quay.io/oauth2-proxy/oauth2-proxy:v7"}])
	outcome(before) == "fail"
	outcome(expect.replaced(before, ["spec", "initContainers", 0, "restartPolicy"], "Always")) == "pass"
	other := expect.replaced(bad, ["spec", "containers", 1], {"name": "log", "image": "fluent-bit:3"})
	outcome(other) == "fail"
}

test_annotation if {
	annotated := expect.replaced(bad, ["metadata", "annotations"], {"security.opendatahub.io/enable-auth": "true"})
	outcome(annotated) == "pass"
	outcome(expect.replaced(annotated, ["metadata", "annotations"], {"security.opendatahub.io/enable-auth": "false"})) == "fail"
	outcome(expect.replaced(bad, ["metadata", "annotations"], {"nginx.ingress.kubernetes.io/auth-url": "https://a"})) == "pass"
	outcome(expect.replaced(bad, ["metadata", "annotations"], {"nginx.ingress.kubernetes.io/auth-url": ""})) == "fail"
}

test_kserve if {
	service := {
		"apiVersion": "serving.kserve.io/v1beta1",
		"kind": "InferenceService",
		"metadata": {"name": "i"},
		"spec": {"predictor": {"model": {"modelFormat": {"name": "huggingface"}}}},
	}
	paths(service) == {["spec", "predictor", "model", "args"]}
}

test_own_image if {
	own := pod({"image": "registry.example/team/server:1"})
	outcome(own) == "skip"
	outcome(own) == "fail" with data.parameters["model/server-exposed"].own_images as {"team/server": "vllm"}
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
