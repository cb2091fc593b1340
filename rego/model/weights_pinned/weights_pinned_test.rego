package model.weights_pinned_test

import data.lib.expect
import data.model.weights_pinned as rule

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

sha := "0e9e39f249a16976918f6564b8830bc894c89659"

bad := serve(["--model", "meta-llama/Llama-3.1-8B"])

kserve(uri) := {
	"apiVersion": "serving.kserve.io/v1beta1",
	"kind": "InferenceService",
	"metadata": {"name": "i"},
	"spec": {"predictor": {"model": {"modelFormat": {"name": "huggingface"}, "storageUri": uri}}},
}

test_fails_on_a_name_without_commit if {
	paths(bad) == {["spec", "containers", 0, "args", 1]}
	outcome(serve(["--model=meta-llama/Llama-3.1-8B"])) == "fail"
	outcome(serve(["--model=gpt2"])) == "fail"
	outcome(serve(["--model=org/m", "--revision=main"])) == "fail"
	outcome(serve(["--model=org/m", "--revision=v1.0"])) == "fail"
	outcome(pod({"image": "own:1", "command": ["vllm", "serve", "org/m"]})) == "fail"
	outcome(pod({"image": "own:1", "command": ["sh", "-c", "vllm serve org/m --port 8000"]})) == "fail"
}

test_passes_with_a_commit if {
	outcome(serve(["--model=org/m", concat("=", ["--revision", sha])])) == "pass"
	outcome(serve(["--model", "org/m", "--revision", sha])) == "pass"
	outcome(pod({"image": "own:1", "command": ["vllm", "serve", "org/m", "--revision", sha]})) == "pass"
}

test_local_and_unknown_paths_pass if {
	every value in ["/models/m", "./m", "$(MODEL)", "$MODEL"] {
		outcome(serve(["--model", value])) == "pass"
	}
}

tgi(env) := pod({"image": "ghcr.io/huggingface/text-generation-inference:3", "env": env})

test_variables if {
	outcome(tgi([])) == "skip"
	paths(tgi([{"name": "MODEL_ID", "value": "org/m"}])) == {["spec", "containers", 0, "env", 0]}
	outcome(tgi([{"name": "MODEL_ID", "value": "org/m"}, {"name": "REVISION", "value": sha}])) == "pass"
	outcome(tgi([{"name": "MODEL_ID", "value": "/data/m"}])) == "pass"
	outcome(tgi([{"name": "MODEL_ID", "valueFrom": {"configMapKeyRef": {}}}])) == "skip"
}

variable(value) := pod({
	"image": "vllm/vllm-openai:v1",
	"args": ["--model=$(MODEL)"],
	"env": [{"name": "MODEL", "value": value}],
})

test_variables_of_the_container_are_followed if {
	outcome(variable("/models/m")) == "pass"
	paths(variable("org/m")) == {["spec", "containers", 0, "args", 0]}
}

test_object_storage if {
	every value in ["s3://b/models/m/latest", "s3://b/models/m", "gs://b/m/main/x.gguf", "https://example.test/m/current/m.bin"] {
		outcome(kserve(value)) == "fail"
	}
	every value in [
		"s3://b/models/m/v3",
		"gs://b/m/1.2.0/model",
		"s3://b/m/2025-01-31/x",
		"s3://b/m?versionId=abc",
		"https://huggingface.co/org/m/resolve/0e9e39f249a16976918f6564b8830bc894c89659/m.gguf",
		"pvc://claim/m",
	] {
		outcome(kserve(value)) == "pass"
	}
}

test_kserve_addresses if {
	paths(kserve("hf://org/m")) == {["spec", "predictor", "model", "storageUri"]}
	outcome(kserve("hf://org/m:main")) == "fail"
	outcome(kserve(concat(":", ["hf://org/m", sha]))) == "pass"
	outcome(kserve("oci://r.test/m:v1")) == "fail"
	outcome(kserve("oci://r.test/m@sha256:abc")) == "pass"
	every variant in expect.without(kserve("hf://org/m"), ["spec", "predictor", "model", "storageUri"]) {
		outcome(variant) == "skip"
	}
	several := {
		"apiVersion": "serving.kserve.io/v1beta1",
		"kind": "InferenceService",
		"metadata": {"name": "i"},
		"spec": {"predictor": {"model": {"storageUris": [{"uri": "s3://b/m/v1"}, {"uri": "hf://org/m"}]}}},
	}
	paths(several) == {["spec", "predictor", "model", "storageUris", 1, "uri"]}
}

test_llm_inference_service if {
	service := {
		"apiVersion": "serving.kserve.io/v1alpha1",
		"kind": "LLMInferenceService",
		"metadata": {"name": "l"},
		"spec": {"model": {"uri": "hf://org/m", "lora": {"adapters": [{"uri": "hf://org/a"}]}}},
	}
	paths(service) == {["spec", "model", "uri"], ["spec", "model", "lora", "adapters", 0, "uri"]}
	every variant in expect.damaged(service) {
		outcome(variant) in {"skip", "pass", "fail"}
	}
}

test_other_servers if {
	outcome(pod({"image": "ollama/ollama:0.12", "command": ["sh", "-c", "ollama serve & ollama pull llama3"]})) == "fail"
	outcome(pod({"image": "curl:1", "command": ["ollama", "pull", "llama3:8b"]})) == "fail"
	outcome(pod({"image": "ghcr.io/ggml-org/llama.cpp:server", "args": ["-hf", "org/m:Q4_K_M"]})) == "fail"
	outcome(pod({"image": "openmmlab/lmdeploy:v0.9", "command": ["lmdeploy", "serve", "api_server", "org/m"]})) == "fail"
	outcome(pod({"image": "nvcr.io/nvidia/tritonserver:25.01-py3", "args": ["tritonserver", "--model-repository=s3://b/repository"]})) == "fail"
	outcome(pod({"image": "nvcr.io/nvidia/tensorrt-llm/release:1.0", "command": ["trtllm-serve", "serve", "org/m"]})) == "fail"
}

fetching(words) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"initContainers": [{"name": "get", "image": "python:3", "command": words}]}}

test_downloads_in_init_containers if {
	outcome(fetching(["true"])) == "skip"
	paths(fetching(["hf", "download", "org/m", "--local-dir", "/m"])) == {["spec", "initContainers", 0, "command", 2]}
	outcome(fetching(["huggingface-cli", "download", "org/m", "--revision", sha])) == "pass"
}

test_image_volumes if {
	volume := {"name": "weights", "image": {"reference": "r.test/models/m:v1"}}
	mounted := object.union(serve([]), {"spec": {"volumes": [volume]}})
	paths(mounted) == {["spec", "volumes", 0, "image", "reference"]}
	fixed := expect.replaced(mounted, ["spec", "volumes", 0, "image", "reference"], "r.test/models/m@sha256:abc")
	outcome(fixed) == "pass"
	every path in [["spec", "volumes"], ["spec", "volumes", 0, "image"], ["spec", "volumes", 0, "image", "reference"]] {
		every variant in expect.without(mounted, path) {
			outcome(variant) == "skip"
		}
	}
}

ray(config) := {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "r"}, "spec": {"serveConfigV2": yaml.marshal({"applications": [{"args": {"llm_configs": [config]}}]})}}

test_ray_serve if {
	paths(ray({"model_loading_config": {"model_id": "qwen", "model_source": "Qwen/Qwen2.5-7B"}})) == {["spec", "serveConfigV2"]}
	outcome(ray({"model_loading_config": {"model_id": "Qwen/Qwen2.5-7B"}})) == "fail"
	outcome(ray({"model_loading_config": {"model_source": {"bucket_uri": "s3://b/m/latest"}}})) == "fail"
	outcome(ray({"model_loading_config": {"model_source": {"bucket_uri": "s3://b/m/v2"}}})) == "pass"
	outcome(ray({"model_loading_config": {"model_source": "Qwen/Qwen2.5-7B"}, "engine_kwargs": {"revision": sha}})) == "pass"
	outcome(expect.replaced(ray({}), ["spec", "serveConfigV2"], "llm_configs: [broken")) == "skip"
}

test_does_not_apply_where_no_model_is_named if {
	outcome(pod({"image": "nginx:1", "args": ["--model=gpt2"]})) == "skip"
	every path in [["spec"], ["spec", "containers"], ["spec", "containers", 0, "args"]] {
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
