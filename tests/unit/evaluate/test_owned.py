"""An owner reference hides nothing but an exact repetition of what its controller itself fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit import audit_fleet
from tests.unit.cli.terminal import run

Change = Callable[[dict[str, Any]], None]
AGENT = {
    "name": "agent",
    "image": "registry.example/agent:1",
    "command": ["run"],
    "securityContext": {"privileged": True},
}


def pod_spec() -> dict[str, Any]:
    return {
        "containers": [copy.deepcopy(AGENT)],
        "hostNetwork": True,
        "volumes": [{"name": "h", "hostPath": {"path": "/run"}}],
    }


def controller(kind: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": pod_spec()}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "agent", "namespace": "ml"},
        "spec": {"template": template},
    }


def owned(kind: str) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": "agent", "controller": True, "uid": "made-up"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "agent-x", "namespace": "ml", "ownerReferences": [reference]},
        "spec": pod_spec(),
    }


def failing(folder: Path, *objects: dict[str, Any]) -> set[tuple[str, str]]:
    """(rule, name) of everything that fails and is told."""
    folder.mkdir(exist_ok=True)
    for number, value in enumerate(objects):
        (folder / f"{number}.json").write_text(json.dumps(value), encoding="utf-8")
    with audit_fleet(folder) as result:
        return {
            (member.rule, member.subject.name)
            for group in result.group_source.groups()
            for member in group.members
            if member.outcome.value == "fail"
        }


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"])
def test_a_repetition_is_told_once_whatever_comes_first(tmp_path: Path, kind: str) -> None:
    injected = owned(kind)
    injected["spec"]["containers"].insert(0, {"name": "injected", "image": "registry.example/mesh:1"})
    for number, objects in enumerate(([controller(kind), injected], [injected, controller(kind)])):
        found = failing(tmp_path / str(number), *objects)
        for rule in ("pod/privileged", "pod/host-namespaces", "pod/host-path-volume"):
            assert (rule, "agent") in found
            assert (rule, "agent-x") not in found


def _another_name(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"][0]["name"] = "miner"


def _another_image(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"][0]["image"] = "evil.example/miner:1"


def _another_command(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"][0]["command"] = ["sh", "-c", "mine"]


def _one_more(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"].append({**AGENT, "name": "second"})


def _an_ephemeral_one(pod: dict[str, Any]) -> None:
    pod["spec"]["ephemeralContainers"] = [{**AGENT, "name": "debug"}]


def _another_host_path(pod: dict[str, Any]) -> None:
    pod["spec"]["volumes"].append({"name": "root", "hostPath": {"path": "/"}})


def _another_namespace(pod: dict[str, Any]) -> None:
    pod["metadata"]["namespace"] = "other"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (_another_name, "pod/privileged"),
        (_another_image, "pod/privileged"),
        (_another_command, "pod/privileged"),
        (_one_more, "pod/privileged"),
        (_an_ephemeral_one, "pod/privileged"),
        (_another_host_path, "pod/host-path-volume"),
        (_another_namespace, "pod/host-namespaces"),
    ],
)
def test_whatever_is_more_is_told(tmp_path: Path, change: Change, rule: str) -> None:
    pod = owned("ReplicaSet")
    change(pod)
    assert (rule, "agent-x") in failing(tmp_path, controller("ReplicaSet"), pod)


def test_containers_without_names_are_not_taken_for_each_other(tmp_path: Path) -> None:
    owner, pod = controller("ReplicaSet"), owned("ReplicaSet")
    del owner["spec"]["template"]["spec"]["containers"][0]["name"], pod["spec"]["containers"][0]["name"]
    _another_image(pod)
    assert ("pod/privileged", "agent-x") in failing(tmp_path, owner, pod)


def test_a_waiver_of_the_controller_covers_nothing_new(tmp_path: Path) -> None:
    """Found by a review: a forged reference to a waived controller let an audit with a gate pass."""
    waiver = """\
waivers:
  - id: W-1
    rule: pod/privileged
    subject: {cluster: manifests, kind: ReplicaSet, namespace: ml, name: agent, container: agent}
    owner: ml
    reason: It drives the devices of the node.
    expires: 2099-01-01
"""
    (tmp_path / "w.yaml").write_text(waiver, encoding="utf-8")
    (tmp_path / "fleetaudit.yaml").write_text("paths: [in]\nwaivers: [w.yaml]\n", encoding="utf-8")
    asked = ("check", "--rule", "pod/privileged", "--fail-on", "critical")
    repeated, more = owned("ReplicaSet"), owned("ReplicaSet")
    _another_name(more)
    for pod, code in ((repeated, 0), (more, 1)):
        failing(tmp_path / "in", controller("ReplicaSet"), pod)
        done = run(*asked, cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
