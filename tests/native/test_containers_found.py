"""Whatever runs a container is judged through the table or said to be unknown; what only names images is neither."""

from __future__ import annotations

import collections
import json
from typing import Any

import pytest

from audit.model.finding import render_path
from audit.native.events import DocumentRead
from audit.native.reader import Reader, SourceText
from tests.native.reading import objects, read
from tests.native.tables import shipped_table
from tests.shared_data import shared_dir

POD = {"containers": [{"name": "c", "image": "i"}]}


def unknown(group: str, kind: str, spec: Any, **more: Any) -> list[str]:
    """Places that the shipped table does not name."""
    text = json.dumps(
        {
            "apiVersion": f"{group}/v1" if group else "v1",
            "kind": kind,
            "metadata": {"name": "n"},
            "spec": spec,
        }
        | more
    )
    [event] = objects(read(text, pod_template_table=shipped_table()))
    return [render_path(path) for path in event.unknown_templates]


@pytest.mark.parametrize(
    ("spec", "places"),
    [
        ({"steps": [{"image": "i"}], "sidecars": [{"image": "j"}]}, ["spec.sidecars", "spec.steps"]),
        ({"driver": {"image": "i", "cores": 1, "env": []}}, ["spec.driver"]),
        ({"executor": {"image": "i", "resources": {}}}, ["spec.executor"]),
        ({"container": {"image": "i"}}, ["spec.container"]),
        ({"containers": {"main": {"image": "i"}, "side": {"image": "j"}}}, ["spec.containers"]),
        ({"initContainers": {"wait": {"image": "i"}}}, ["spec.initContainers"]),
        ({"pods": {"initContainers": [{"name": "i", "command": ["x"]}]}}, ["spec.pods"]),
        ({"deep": [{"er": {"image": "i", "args": ["x"]}}]}, ["spec.deep[0].er"]),
        ({"image": "i", "replicas": 2}, ["spec"]),
        ({"image": {"repository": "r", "tag": "t"}, "resources": {}}, ["spec"]),
        ({"sidecars": {"image": "i", "command": ["x"]}}, ["spec.sidecars"]),
        ({"template": {"spec": {"containers": [None, {"name": "c", "image": "i"}]}}}, ["spec.template"]),
        # A pod that stands beside another, or inside one, is no less a pod.
        ({**POD, "more": {"template": {"spec": POD}}}, ["", "spec.more.template"]),
    ],
)
def test_containers_of_an_unknown_kind(spec: Any, places: list[str]) -> None:
    assert unknown("example.com", "Widget", spec) == places


@pytest.mark.parametrize(
    ("group", "kind", "spec"),
    [
        ("", "ConfigMap", {}),
        (
            "kustomize.toolkit.fluxcd.io",
            "Kustomization",
            {"images": [{"name": "a", "newName": "b", "newTag": "c"}]},
        ),
        (
            "image.toolkit.fluxcd.io",
            "ImagePolicy",
            {"imageRepositoryRef": {"name": "r"}, "policy": {"semver": {}}},
        ),
        ("image.toolkit.fluxcd.io", "ImageRepository", {"image": "ghcr.io/a/b", "interval": "1m"}),
        (
            "policy.sigstore.dev",
            "ClusterImagePolicy",
            {"images": [{"glob": "**"}], "authorities": [{"name": "a"}]},
        ),
        ("operators.coreos.com", "Bundle", {"relatedImages": [{"name": "a", "image": "b"}]}),
        ("kyverno.io", "ClusterPolicy", {"rules": [{"validate": {"pattern": {"spec": POD}}}]}),
        ("constraints.gatekeeper.sh", "K8sX", {"parameters": {"container": {"image": "x", "name": "y"}}}),
        (
            "mutations.gatekeeper.sh",
            "Assign",
            {"parameters": {"assign": {"value": {"image": "x", "args": []}}}},
        ),
        ("apiextensions.k8s.io", "CustomResourceDefinition", {"default": {"template": {"spec": POD}}}),
        ("example.com", "Schema", {"properties": {"image": {"type": "string"}, "args": {"type": "array"}}}),
        ("argoproj.io", "Workflow", {"templates": [{"steps": [[{"name": "a", "template": "b"}]]}]}),
        ("example.com", "Pipeline", {"steps": [{"name": "build", "run": "make"}]}),
        ("apps", "ControllerRevision", {"template": {"spec": POD}}),
        ("example.com", "Disk", {"volumes": [{"name": "m", "image": {"reference": "r"}}]}),
    ],
)
def test_what_names_images_and_runs_none(group: str, kind: str, spec: Any) -> None:
    assert unknown(group, kind, spec, data={"pod.yaml": "containers: [{name: c, image: i}]"}) == []


def test_status_is_what_was_seen_not_what_is_asked_for() -> None:
    steps = [{"name": "s", "image": "i"}]
    assert (
        unknown("tekton.dev", "TaskRun", {"taskRef": {"name": "t"}}, status={"taskSpec": {"steps": steps}})
        == []
    )


@pytest.mark.parametrize("kind", sorted(shipped_table()))
def test_a_container_at_every_place_of_the_table_is_known(kind: str) -> None:
    for entry in shipped_table()[kind]:
        container = {"name": "c", "image": "i"}
        leaves: dict[str, list[Any]] = {
            "template": [{"spec": {"containers": [container], "initContainers": [container]}}],
            "spec": [{"containers": [container], **dict.fromkeys(entry.get("merged", []), container)}],
            "container": [container],
            "argo_template": [
                {"container": container, "sidecars": [container]},
                {"containerSet": {"containers": [container]}},
                {"script": container, "initContainers": [container]},
            ],
        }
        for leaf in leaves[entry["holds"]]:
            value: Any = leaf
            for segment in reversed(entry["path"]):
                value = [value] if segment == "*" else {segment: value}
            group, _, name = kind.rpartition("/")
            api_version = f"{group}/v1" if group else "v1"
            text = json.dumps({"apiVersion": api_version, "kind": name, "metadata": {"name": "n"}, **value})
            [event] = objects(read(text, pod_template_table=shipped_table()))
            assert event.unknown_templates == ()
            assert event.faults == ()


@pytest.mark.corpora
def test_gaps_of_the_public_manifests_by_kind() -> None:
    """Every one of these runs containers in a shape that nobody can judge as a pod; there is no false alarm."""
    root = shared_dir("corpora", "manifests")
    files = sorted(p for p in root.rglob("*") if p.suffix in (".yaml", ".yml", ".json") and p.is_file())
    sources = [SourceText(token=n, path=str(p), data=p.read_bytes()) for n, p in enumerate(files)]
    found: collections.Counter[str] = collections.Counter()
    with Reader(jobs=2, pod_template_table=shipped_table()) as reader:
        for event in reader.read(sources):
            if isinstance(event, DocumentRead):
                assert event.faults == ()
                for path in event.unknown_templates:
                    found[f"{event.group}/{event.kind} {render_path(path)}"] += 1
    assert found == {
        "extensions.agents.x-k8s.io/SandboxTemplate spec.podTemplate": 1,
        "production-stack.vllm.ai/CacheServer spec": 1,
        "production-stack.vllm.ai/VLLMRouter spec": 1,
        "production-stack.vllm.ai/VLLMRuntime spec": 1,
        "production-stack.vllm.ai/VLLMRuntime spec.deploymentConfig": 4,
        "production-stack.vllm.ai/VLLMRuntime spec.deploymentConfig.sidecarConfig": 1,
        "production-stack.vllm.ai/VLLMRuntime spec.podTemplate": 1,
        "ray.io/RayCluster spec.historyServerOptions.collectorOptions": 1,
        "sparkoperator.k8s.io/SparkApplication spec": 1,
    }
