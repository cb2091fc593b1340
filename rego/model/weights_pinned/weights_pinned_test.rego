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

test_model_without_a_flag if {
	every args in [
		["org/m"],
		["gpt2", "--port", "8000"],
		["--port", "8000", "org/m"],
		["--enable-prefix-caching", "org/m"],
		["--trust_remote_code", "org/m"],
		["hf://org/m"],
		["s3://bucket/m/latest"],
	] {
		outcome(serve(args)) == "fail"
		own := pod({"image": "own:1", "command": array.concat(["vllm", "serve"], args)})
		outcome(own) == "fail"
		script := pod({"image": "own:1", "command": ["sh", "-c"], "args": [concat(" ", array.concat(["exec vllm serve"], args))]})
		outcome(script) == "fail"
		pinned := {true: "fail", false: "pass"}[args[0] == "s3://bucket/m/latest"]
		outcome(serve(array.concat(args, ["--revision", sha]))) == pinned
	}
	paths(serve(["--port", "8000", "org/m"])) == {["spec", "containers", 0, "args", 2]}
	paths(pod({"image": "vllm/vllm-openai:v1", "args": ["serve", "org/m"]})) == {["spec", "containers", 0, "args", 1]}
	outcome(pod({"image": "own:1", "command": ["sh", "-c"], "args": ["vllm \\\n  serve \\\n  org/m \\\n  --port 80"]})) == "fail"
}

test_values_of_options_are_no_models if {
	every args in [
		["--served-model-name", "org/m"],
		["--tokenizer", "org/t", "--port", "8000"],
		["--config", "/etc/vllm/config.yaml"],
		["--host=0.0.0.0"],
	] {
		outcome(serve(args)) == "skip"
	}
	outcome(pod({"image": "own:1", "command": ["sh", "-c", "vllm serve --config c.yaml > logs/vllm.log && tail logs/vllm.log"]})) == "skip"
	outcome(serve(["--model", "org/m", "--revision", sha, "org/other"])) == "pass"
	outcome(pod({"image": "vllm/vllm-openai:v1", "command": ["python3", "/run.py", "org/m"]})) == "skip"
}

test_adapters if {
	pinned := ["--model=org/m", "--revision", sha]
	outcome(serve(array.concat(pinned, ["--lora-modules", "one=org/a", "two=/adapters/b", "--port", "80"]))) == "fail"
	paths(serve(array.concat(pinned, ["--lora-modules", "one=/adapters/a", "two=org/b"]))) == {["spec", "containers", 0, "args", 5]}
	outcome(serve(array.concat(pinned, ["--lora-modules", "one=/adapters/a"]))) == "pass"
}

digest := "sha256:1111111111111111111111111111111111111111111111111111111111111111"

local(container, volume) := object.union(
	pod(object.union({"args": ["--model", "/models/m"], "volumeMounts": [{"name": "w", "mountPath": "/models"}]}, container)),
	{"spec": {"volumes": [object.union({"name": "w"}, volume)]}},
)

test_a_local_path_alone_proves_nothing if {
	every value in ["/models/m", "./m", "~/m", "$(MODEL)", "$MODEL", "pvc://claim/m", "file:///models/m"] {
		outcome(serve(["--model", value])) == "skip"
	}
	every volume in [
		{"persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
		{"hostPath": {"path": "/models"}},
		{"emptyDir": {}},
		{"nfs": {"server": "s", "path": "/", "readOnly": true}},
	] {
		outcome(local({"image": "vllm/vllm-openai:v1"}, volume)) == "skip"
		outcome(local({"image": concat("@", ["vllm/vllm-openai", digest])}, volume)) == "skip"
	}
}

test_a_local_path_from_an_image_with_a_digest if {
	fixed := {"image": {"reference": concat("@", ["r.test/models/m:v1", digest])}}
	outcome(local({"image": "vllm/vllm-openai:v1"}, fixed)) == "pass"
	outcome(local({"image": "vllm/vllm-openai:v1"}, {"image": {"reference": "r.test/models/m:v1"}})) == "fail"
	baked := {"image": concat("@", ["r.test/vllm-openai", digest]), "args": ["--model", "/models/m"]}
	outcome(pod(baked)) == "pass"
	outcome(pod(object.union(baked, {"volumeMounts": [{"name": "t", "mountPath": "/models-tmp"}]}))) == "pass"
	outcome(pod(object.union(baked, {"volumeMounts": [{"name": "t", "mountPath": "/models/"}]}))) == "skip"
	outcome(pod(object.union(baked, {"image": "r.test/vllm-openai:v1"}))) == "skip"
}

tgi(env) := pod({"image": "ghcr.io/huggingface/text-generation-inference:3", "env": env})

test_variables if {
	outcome(tgi([])) == "skip"
	paths(tgi([{"name": "MODEL_ID", "value": "org/m"}])) == {["spec", "containers", 0, "env", 0]}
	outcome(tgi([{"name": "MODEL_ID", "value": "org/m"}, {"name": "REVISION", "value": sha}])) == "pass"
	outcome(tgi([{"name": "MODEL_ID", "value": "/data/m"}])) == "skip"
	outcome(tgi([{"name": "MODEL_ID", "valueFrom": {"configMapKeyRef": {}}}])) == "skip"
}

variable(value) := pod({
	"image": "vllm/vllm-openai:v1",
	"args": ["--model=$(MODEL)"],
	"env": [{"name": "MODEL", "value": value}],
})

test_variables_of_the_container_are_followed if {
	outcome(variable("/models/m")) == "skip"
	paths(variable("org/m")) == {["spec", "containers", 0, "args", 0]}
}

test_object_storage if {
	every value in ["s3://b/models/m/latest", "s3://b/models/m", "gs://b/m/main/x.gguf", "https://example.test/m/current/m.bin", "S3://b/m", "modelscope://org/m"] {
		outcome(kserve(value)) == "fail"
	}
	every value in [
		"s3://b/models/m/v3",
		"gs://b/m/1.2.0/model",
		"s3://b/m/2025-01-31/x",
		"s3://b/m?versionId=abc",
		"https://huggingface.co/org/m/resolve/0e9e39f249a16976918f6564b8830bc894c89659/m.gguf",
	] {
		outcome(kserve(value)) == "pass"
	}
	outcome(kserve("pvc://claim/m")) == "skip"
}

test_kserve_addresses if {
	paths(kserve("hf://org/m")) == {["spec", "predictor", "model", "storageUri"]}
	outcome(kserve("hf://org/m:main")) == "fail"
	outcome(kserve(concat(":", ["hf://org/m", sha]))) == "pass"
	outcome(kserve("oci://r.test/m:v1")) == "fail"
	outcome(kserve("oci://r.test/m@sha256:abc")) == "fail"
	outcome(kserve(concat("@", ["oci://r.test/m", digest]))) == "pass"
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
	fixed := expect.replaced(mounted, ["spec", "volumes", 0, "image", "reference"], concat("@", ["r.test/models/m", digest]))
	outcome(fixed) == "pass"
	outcome(expect.replaced(mounted, ["spec", "volumes", 0, "image", "reference"], "r.test/models/m@sha256:abc")) == "fail"
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
