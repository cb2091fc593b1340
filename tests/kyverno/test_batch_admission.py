"""ValidatingAdmissionPolicies: the batch child's answers are those of a real API server asked to create the objects.

The CLI is no oracle here: with a binding it ignores the policy's own constraints, and it makes floats of whole numbers.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import ssl
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.evaluate.kyverno import KyvernoOptions
from tests.cluster.server import ADMIN, ApiServer, api_server
from tests.kyverno.conftest import Judge
from tests.kyverno.objects import collected

pytestmark = pytest.mark.tools

NAMESPACES: dict[str, dict[str, str]] = {"gold": {"tier": "gold"}, "plain": {}}
RULES = {
    "tags": "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    "limits": "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
    "even": "!has(object.spec.terminationGracePeriodSeconds) || object.spec.terminationGracePeriodSeconds % 2 == 0",
    "whole": "!has(object.spec.terminationGracePeriodSeconds) || type(object.spec.terminationGracePeriodSeconds) == int",
    "label": "object.metadata.labels['app'] != 'bad'",
    "quantity": "object.spec.containers.all(c, !has(c.resources) || !has(c.resources.limits) || !('memory' in c.resources.limits)"
    " || quantity(c.resources.limits['memory']).isLessThan(quantity('2Gi')))",
    "gold": "namespaceObject.metadata.labels['tier'] == 'gold'",
    "request": "request.operation == 'CREATE' && request.namespace == object.metadata.namespace",
    "variable": "variables.images.all(i, i.startsWith('nginx'))",
}
"""Some of them can't be evaluated for every object."""


def admission_policy(name: str, expression: str) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ]
            },
            "matchConditions": [
                {"name": "asked", "expression": "!('skip' in object.metadata.?annotations.orValue({}))"}
            ],
            "variables": [{"name": "images", "expression": "object.spec.containers.map(c, c.image)"}],
            "validations": [
                {
                    "expression": expression,
                    "messageExpression": f"'{name} says no to ' + object.metadata.name",
                }
            ],
        },
    }


def policy_binding(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"policyName": name, "validationActions": ["Deny"]}
    if name in ("limits", "label"):
        spec["matchResources"] = {"namespaceSelector": {"matchLabels": {"tier": "gold"}}}
    if name == "tags":
        spec["matchResources"] = {
            "objectSelector": {"matchExpressions": [{"key": "exempt", "operator": "DoesNotExist"}]}
        }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": f"{name}-binding"},
        "spec": spec,
    }


def pods() -> Iterator[dict[str, Any]]:
    images = ("nginx:1.27", "nginx:latest", "redis:7")
    limits: tuple[dict[str, str], ...] = ({}, {"memory": "1Gi"}, {"memory": "4Gi", "cpu": "1"})
    metadata: tuple[dict[str, Any], ...] = (
        {},
        {"labels": {"app": "good"}},
        {"labels": {"app": "bad", "exempt": "yes"}},
        {"annotations": {"skip": "yes"}},
    )
    grace = (None, 30, 31)
    shapes = itertools.product(NAMESPACES, images, limits, metadata, grace)
    for number, (namespace, image, limit, meta, seconds) in enumerate(shapes):
        container: dict[str, Any] = {"name": "main", "image": image}
        if limit:
            container["resources"] = {"limits": limit}
        spec: dict[str, Any] = {"containers": [container]}
        if seconds is not None:
            spec["terminationGracePeriodSeconds"] = seconds
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "namespace": namespace, **copy.deepcopy(meta)},
            "spec": spec,
        }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(tmp_path_factory.mktemp("server")) as found:
        for name, labels in NAMESPACES.items():
            found.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
            )
        yield found


_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_WARNING = re.compile(
    r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '[^']+': (?P<message>.*)\"", re.DOTALL
)
_CANARY = "in-force"


def refusals(server: ApiServer, value: dict[str, Any]) -> dict[str, str]:
    """What a server says of an object that it is asked to create, by policy."""
    request = urllib.request.Request(
        f"{server.url}/api/v1/namespaces/{value['metadata']['namespace']}/pods?dryRun=All",
        method="POST",
        data=json.dumps(value).encode(),
        headers={"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/json"},
    )
    trusting = ssl._create_unverified_context()
    with urllib.request.urlopen(request, timeout=60, context=trusting) as answer:
        texts = answer.headers.get_all("Warning") or []
    matches = [_WARNING.search(text) for text in texts]
    return {match["policy"]: match["message"] for match in matches if match}


def put_in_force(server: ApiServer, rules: dict[str, str], probe: dict[str, Any]) -> None:
    """Policies that warn: a server names every one of them then, and not only the first that refuses."""
    for name, expression in {**rules, _CANARY: "false"}.items():
        bound = policy_binding(name)
        bound["spec"]["validationActions"] = ["Warn"]
        server.ask("POST", f"{_ADMISSION}/validatingadmissionpolicies", admission_policy(name, expression))
        server.ask("POST", f"{_ADMISSION}/validatingadmissionpolicybindings", bound)
    deadline = time.monotonic() + 60
    while _CANARY not in refusals(server, probe):
        assert time.monotonic() < deadline, "policies do not come into force"
        time.sleep(0.5)
    time.sleep(3)  # what was created before the last one is in force as well


def test_admission_policies_say_what_the_server_says(
    server: ApiServer, batch: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLEETAUDIT_KYVERNO", raising=False)
    objects = list(pods())
    put_in_force(server, RULES, objects[0])
    documents = [
        document
        for name, expression in RULES.items()
        for document in (admission_policy(name, expression), policy_binding(name))
    ]
    seen = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in NAMESPACES.items()
    ]
    found = judge(
        yaml.safe_dump_all(documents),
        [collected(value) for value in objects],
        seen=yaml.safe_dump_all(seen),
        options=KyvernoOptions(batch="required", jobs=2),
    )
    assert found.gaps == []
    outcomes: Counter[str] = Counter()
    for value in objects:
        name = value["metadata"]["name"]
        said = refusals(server, value)
        for rule in RULES:
            answer = found.of(f"{rule}/admission", name)
            outcomes[answer.outcome.value] += 1
            assert (answer.outcome.value in ("fail", "error")) == (rule in said), (rule, value, said, answer)
            if answer.outcome.value == "fail":
                assert said[rule] == answer.violations[0].message == f"{rule} says no to {name}"
            elif answer.outcome.value == "error":
                assert "resulted in error: no such key" in said[rule]
                assert "resulted in error: no such key" in answer.message
    assert min(outcomes[outcome] for outcome in ("pass", "fail", "error", "skip")) > 50
