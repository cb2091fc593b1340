"""Exactly what a component needs passes; one thing more, in any place, fails."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.errors import ContentError
from audit.library.components import load_components
from audit.resources import content_dir
from tests.integration.command import Run, run

DIGEST = "@sha256:" + "0" * 64
PLUGIN: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "plugin", "namespace": "kube-system"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {
                        "name": "nvidia-device-plugin-ctr",
                        "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0" + DIGEST,
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    }
                ],
                "volumes": [{"name": "d", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}],
            },
        },
    },
}
NEEDED = {
    "pod/host-path-volume",
    "pod/volume-types",
    "pod/run-as-non-root",
    "pod/read-only-root-filesystem",
    "pod/seccomp-restricted",
}


def audited(folder: Path, value: dict[str, Any], *options: str | Path) -> Run:
    file = folder / "object.yaml"
    file.write_text(yaml.safe_dump(value))
    return run(folder / "out", file, "--no-cache", *options)


def failing(done: Run) -> set[str]:
    return {
        g["rule"] for g in done.report["groups"] if g["outcome"] == "fail" and g["rule"].startswith("pod/")
    }


def test_what_the_component_needs_is_a_pass_that_says_so(tmp_path: Path) -> None:
    done = audited(tmp_path, PLUGIN)
    assert not failing(done)
    [notice] = [n for n in done.report["notices"] if n["code"] == "passed_by_component"]
    assert notice["source"] == "nvidia-device-plugin@1"
    assert notice["count"] == len(NEEDED)
    assert all(rule in notice["message"] for rule in NEEDED)


def pod(value: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = value["spec"]["template"]["spec"]
    return spec


def _image(value: dict[str, Any], image: str) -> None:
    pod(value)["containers"][0]["image"] = image


CHANGES: dict[str, Any] = {
    "tag alone": lambda v: _image(v, "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"),
    "another repository": lambda v: _image(v, "evil.example.com/nvidia/k8s-device-plugin" + DIGEST),
    "a longer repository": lambda v: _image(v, "nvcr.io/nvidia/k8s-device-plugin/x" + DIGEST),
    "a sidecar": lambda v: pod(v)["containers"].append({"name": "x", "image": "evil.example.com/x" + DIGEST}),
    "an init container": lambda v: pod(v).update(
        initContainers=[{"name": "x", "image": "evil.example.com/x"}]
    ),
    "a container without image": lambda v: pod(v)["containers"].append({"name": "x"}),
    "a second one of that name": lambda v: pod(v)["containers"].insert(
        0, {"name": "nvidia-device-plugin-ctr", "image": "evil.example.com/x:1"}
    ),
    "a second one of that name and image": lambda v: pod(v)["containers"].append(
        dict(pod(v)["containers"][0])
    ),
    "one without name": lambda v: pod(v)["containers"].append({"image": "evil.example.com/x:1"}),
    "another namespace": lambda v: v["metadata"].update(namespace="default"),
    "no namespace": lambda v: v["metadata"].pop("namespace"),
    "another kind": lambda v: v.update(kind="StatefulSet"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_not_the_component_gets_nothing(tmp_path: Path, name: str) -> None:
    value = copy.deepcopy(PLUGIN)
    CHANGES[name](value)
    assert failing(audited(tmp_path, value)) >= NEEDED


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (
            lambda v: pod(v)["volumes"].append({"name": "e", "hostPath": {"path": "/"}}),
            "pod/host-path-volume",
        ),
        (lambda v: pod(v)["volumes"].append({"name": "e", "hostPath": {"path": "/"}}), "pod/volume-types"),
        (lambda v: pod(v)["containers"][0]["securityContext"].update(privileged=True), "pod/privileged"),
        (
            lambda v: pod(v)["containers"][0]["securityContext"].update(runAsNonRoot=False),
            "pod/run-as-non-root",
        ),
        (lambda v: pod(v).update(hostNetwork=True), "pod/host-namespaces"),
        (lambda v: pod(v)["containers"][0].update(name="other"), "pod/run-as-non-root"),
    ],
)
def test_one_thing_more_fails_and_the_rest_still_passes(tmp_path: Path, change: Any, rule: str) -> None:
    value = copy.deepcopy(PLUGIN)
    change(value)
    assert rule in failing(audited(tmp_path, value))


def test_a_pass_by_profile_is_in_the_population_with_its_name(tmp_path: Path) -> None:
    import gzip

    done = audited(tmp_path, PLUGIN)
    rows = gzip.decompress((done.folder / "population.csv.gz").read_bytes()).decode().splitlines()
    assert len([row for row in rows if ",pass,component:nvidia-device-plugin@1," in row]) == len(NEEDED)


def profile(**changes: Any) -> dict[str, Any]:
    return {
        "id": "own",
        "version": 1,
        "title": "t",
        "source": "s",
        "reviewed": "2026-11-30",
        "reviewer": "r",
        "kinds": ["apps/DaemonSet"],
        "namespaces": ["kube-system"],
        "images": [{"repository": "a/b"}],
        "needs": [{"rule": "pod/privileged", "values": [True], "containers": ["c"], "why": "w"}],
    } | changes


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": 0}, "counts from 1"),
        ({"kinds": []}, "may not be empty"),
        ({"kinds": ["batch/Job"]}, "has no profile"),
        ({"namespaces": []}, "may not be empty"),
        ({"images": [{"repository": "a/b:1"}]}, "is no repository"),
        ({"images": [{"repository": "a/*"}]}, "is no repository"),
        ({"images": [{"repository": "a", "digests": ["sha256:x"]}]}, "is no digest"),
        ({"needs": [{"rule": "pod/privilege", "values": [True], "why": "w"}]}, "no rule pod/privilege"),
        ({"needs": [{"rule": "pod/privileged", "values": [], "why": "w"}]}, "may not be empty"),
        ({"need": []}, "need"),
        ({"needs": [{"rule": "pod/privileged", "values": [True], "why": "w"}]}, "which switch of the pod"),
        (
            {"needs": [{"rule": "pod/privileged", "values": [True], "field": ["hostPID"], "why": "w"}]},
            "field",
        ),
        ({"images": [{"repository": "a/b", "digest": "sha256:x"}]}, "digest"),
    ],
)
def test_a_wrong_profile_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps({"components": [profile(**changes)]}, indent=1))
    with pytest.raises(ContentError) as caught:
        load_components([file], {"pod/privileged"})
    assert told in "\n".join([str(caught.value), *map(str, caught.value.others)])
    assert caught.value.line


def test_a_user_s_profile_replaces_a_shipped_one(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps({"components": [profile(id="nvidia-device-plugin", version=7)]}))
    rules = {n["rule"] for c in yaml.safe_load(_shipped().read_text())["components"] for n in c["needs"]} | {
        "pod/privileged"
    }
    found = {one.id: one.label for one in load_components([_shipped(), file], rules)}
    assert found["nvidia-device-plugin"] == "nvidia-device-plugin@7"
    assert len(found) >= 5
    config = tmp_path / "fleetaudit.yaml"
    config.write_text(f"components: [{file.name}]\n")
    assert failing(audited(tmp_path, PLUGIN, "--config", config)) >= NEEDED


def _shipped() -> Path:
    return content_dir("controls") / "components.yaml"
