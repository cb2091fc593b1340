"""Which images objects run, wherever their pods are described."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from audit.collect.artifacts.registry.uses import ImageUses
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject
from tests.shared_data import CHECKOUT

TABLE = yaml.safe_load((CHECKOUT / "rego" / "pod_templates.yaml").read_text(encoding="utf-8"))[
    "pod_templates"
]


def seen(document: dict[str, Any], uses: ImageUses | None = None) -> ImageUses:
    group, _, version = document["apiVersion"].rpartition("/")
    ref = SubjectRef(cluster="c", group=group, version=version, kind=document["kind"])
    uses = uses or ImageUses(TABLE)
    uses.see(CollectedObject(ref=ref, raw=json.dumps(document).encode()))
    return uses


def names(document: dict[str, Any]) -> list[str]:
    return [str(reference) for reference in seen(document).references()]


def container(image: object) -> dict[str, object]:
    return {"name": "c", "image": image}


POD = {
    "initContainers": [container("a.example/init:1")],
    "containers": [container("a.example/main:1"), container("a.example/main:1")],
    "ephemeralContainers": [container("a.example/debug:1")],
    "volumes": [{"name": "v", "image": {"reference": "a.example/data:1"}}, {"name": "w", "emptyDir": {}}],
}
ALL = ["a.example/data:1", "a.example/debug:1", "a.example/init:1", "a.example/main:1"]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (("v1", "Pod"), POD),
        (("apps/v1", "Deployment"), {"template": {"spec": POD}}),
        (("batch/v1", "CronJob"), {"jobTemplate": {"spec": {"template": {"spec": POD}}}}),
        (("ray.io/v1", "RayCluster"), {"workerGroupSpecs": [{"template": {"spec": POD}}]}),
    ],
)
def test_pods_wherever_they_stand(kind: tuple[str, str], spec: dict[str, Any]) -> None:
    assert names({"apiVersion": kind[0], "kind": kind[1], "spec": spec}) == ALL


def test_templates_of_workflows() -> None:
    template = {
        "container": container("a.example/one:1"),
        "script": container("a.example/two:1"),
        "containerSet": {"containers": [container("a.example/three:1")]},
        "sidecars": [container("a.example/four:1")],
    }
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"templates": [template]}}
    assert names(workflow) == [f"a.example/{name}:1" for name in ("four", "one", "three", "two")]


def test_other_objects_run_nothing() -> None:
    assert names({"apiVersion": "v1", "kind": "ConfigMap", "data": {"image": "a.example/b:1"}}) == []


@pytest.mark.parametrize(
    "spec", [None, [], "x", {"containers": "x"}, {"containers": ["x", None, {"image": 7}]}]
)
def test_wrong_types_are_nothing(spec: object) -> None:
    uses = seen({"apiVersion": "v1", "kind": "Pod", "spec": spec})
    assert not uses.references()
    assert uses.unreadable == 0


def test_names_that_can_not_be_read_are_counted() -> None:
    spec = {"containers": [container("${IMAGE}"), container("{{ image }}"), container("")]}
    assert seen({"apiVersion": "v1", "kind": "Pod", "spec": spec}).unreadable == 2


def test_every_way_in_which_an_image_is_written_is_kept() -> None:
    spec = {"containers": [container("nginx"), container("docker.io/library/nginx:latest")]}
    uses = seen({"apiVersion": "v1", "kind": "Pod", "spec": spec})
    [written] = uses.references().values()
    assert written == ("docker.io/library/nginx:latest", "nginx")
