"""Our reading of match, exclude and match constraints against the CLI's: hundreds of random policies and objects."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.evaluate.kyverno.binary import KyvernoCli
from audit.evaluate.kyverno.expectation import Expectations
from audit.evaluate.kyverno.labels import any_of
from audit.evaluate.kyverno.offline import make_ready
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.run import CliRuns, Effort, RunRequest
from audit.evaluate.kyverno.subjects import Subject, layers, subject_of
from audit.evaluate.kyverno.surroundings import surroundings_of
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from audit.model.kyverno import KyvernoPolicy, PolicyFamily, RuleVariant
from tests.kyverno.objects import collected, inventory_of

pytestmark = pytest.mark.tools

KINDS = (
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("v1", "Service"),
    ("v1", "Namespace"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("networking.k8s.io/v1", "Ingress"),
    ("shop.example/v1", "Widget"),
)
NAMESPACES = ("shop", "shop-test", "bank", "default")
NAMES = ("web", "web-1", "db", "cache")
LABELS = (
    {},
    {"app": "web"},
    {"app": "db", "tier": "gold"},
    {"tier": "silver"},
    {"app.kubernetes.io/name": "web"},
)
SELECTORS = (
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"tier": "gold", "app": "db"}},
    {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold", "silver"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
    {},
)
WILD_SELECTORS = (
    {"matchLabels": {"app": "w*"}},
    {"matchLabels": {"app*": "web"}},
    {"matchLabels": {"t?er": "?*"}},
)
KIND_LISTS = (
    ["Pod"], ["Deployment"], ["Service", "Ingress"], ["*"], ["apps/v1/Deployment"], ["v1/Pod"], ["*/Pod"],
    ["batch/*/CronJob"], ["shop.example/*/*"], ["Pod/exec"], ["*Job"], ["networking.k8s.io/v1/Ingress"],
    ["Namespace"], ["Widget"], ["ClusterRole"], ["*/*"],
)  # fmt: skip


def some_objects(chance: random.Random, number: int) -> list[dict[str, Any]]:
    found = []
    for index in range(number):
        api_version, kind = chance.choice(KINDS)
        metadata: dict[str, Any] = {
            "name": f"{chance.choice(NAMES)}-{index}",
            "labels": chance.choice(LABELS),
        }
        if kind not in ("Namespace", "ClusterRole"):
            metadata["namespace"] = chance.choice(NAMESPACES)
        if chance.random() < 0.3:
            metadata["annotations"] = {"team": chance.choice(["a", "b"])}
        if chance.random() < 0.1:
            metadata["generateName"] = metadata.pop("name")
        found.append({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {}})
    return found


def some_resources(chance: random.Random) -> dict[str, Any]:
    resources: dict[str, Any] = {"kinds": chance.choice(KIND_LISTS)}
    if chance.random() < 0.25:
        resources["namespaces"] = chance.choice(
            [["shop"], ["shop*"], ["ban?"], ["default", "nowhere"], ["web*"]]
        )
    if chance.random() < 0.2:
        resources["names"] = chance.choice([["web*"], ["db-1", "db-2"], ["*-?"], ["cache-*", "web-1*"]])
    elif chance.random() < 0.1:
        resources["name"] = chance.choice(["web*", "*"])
    if chance.random() < 0.2:
        resources["selector"] = chance.choice((*SELECTORS, *WILD_SELECTORS))
    if chance.random() < 0.2:
        resources["namespaceSelector"] = chance.choice((*SELECTORS, *WILD_SELECTORS))
    if chance.random() < 0.1:
        resources["annotations"] = chance.choice([{"team": "a"}, {"te*": "?"}])
    if chance.random() < 0.1:
        resources["operations"] = chance.choice([["CREATE"], ["UPDATE"], ["CREATE", "DELETE"]])
    return resources


def some_block(chance: random.Random, *, excluding: bool) -> dict[str, Any]:
    def entry() -> dict[str, Any]:
        found: dict[str, Any] = {"resources": some_resources(chance)}
        if excluding and chance.random() < 0.3:
            del found["resources"]["kinds"]
            found["resources"] = found["resources"] or {"namespaces": ["shop"]}
        return found

    shape = chance.choice(["any", "any", "all", "plain"])
    if shape == "plain":
        return entry()
    return {shape: [entry() for _ in range(chance.choice([1, 1, 2]))]}


def some_classic(chance: random.Random, index: int) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "name": "r",
        "match": some_block(chance, excluding=False),
        "validate": {
            "message": "m",
            "deny": {"conditions": {"all": [{"key": "a", "operator": "Equals", "value": "b"}]}},
        },
    }
    if chance.random() < 0.4:
        rule["exclude"] = some_block(chance, excluding=True)
    kind = "Policy" if chance.random() < 0.15 else "ClusterPolicy"
    metadata: dict[str, Any] = {"name": f"p{index}"}
    if kind == "Policy":
        metadata["namespace"] = chance.choice(NAMESPACES)
    spec = {"background": False, "rules": [rule]}
    return {"apiVersion": "kyverno.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def some_cel(chance: random.Random, index: int) -> dict[str, Any]:
    def resource_rule() -> dict[str, Any]:
        groups, resources = chance.choice(
            [([""], ["pods"]), (["apps"], ["deployments"]), (["*"], ["*"]), (["batch"], ["jobs", "cronjobs"]),
             ([""], ["services", "namespaces"]), (["shop.example"], ["widgets"]), ([""], ["pods/exec"]),
             (["rbac.authorization.k8s.io"], ["clusterroles"]), ([""], ["*"]), (["networking.k8s.io"], ["ingresses/*"])]
        )  # fmt: skip
        rule: dict[str, Any] = {
            "apiGroups": groups,
            "apiVersions": chance.choice([["v1"], ["*"]]),
            "operations": chance.choice([["CREATE"], ["CREATE", "UPDATE"], ["*"], ["UPDATE"]]),
            "resources": resources,
        }
        if chance.random() < 0.2:
            rule["resourceNames"] = [f"web-{chance.randrange(40)}", f"db-{chance.randrange(40)}"]
        if chance.random() < 0.2:
            rule["scope"] = chance.choice(["*", "Namespaced", "Cluster"])
        return rule

    constraints: dict[str, Any] = {
        "resourceRules": [resource_rule() for _ in range(chance.choice([1, 1, 2]))]
    }
    if chance.random() < 0.3:
        constraints["namespaceSelector"] = chance.choice(SELECTORS)
    if chance.random() < 0.3:
        constraints["objectSelector"] = chance.choice(SELECTORS)
    if chance.random() < 0.2:
        constraints["excludeResourceRules"] = [resource_rule()]
    spec = {"matchConstraints": constraints, "validations": [{"expression": "true"}]}
    return {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "ValidatingPolicy",
        "metadata": {"name": f"v{index}"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("family", "policies", "objects", "seed"),
    [(PolicyFamily.CLASSIC, 160, 60, 7), (PolicyFamily.CLASSIC, 160, 60, 8), (PolicyFamily.VALIDATING, 40, 25, 9)],
    ids=["classic", "classic again", "cel"],
)  # fmt: skip
def test_we_select_what_the_cli_selects(
    cli: KyvernoCli, tmp_path: Path, family: PolicyFamily, policies: int, objects: int, seed: int
) -> None:
    chance = random.Random(seed)
    make = some_classic if family is PolicyFamily.CLASSIC else some_cel
    file = tmp_path / "policies.yaml"
    file.write_text(yaml.safe_dump_all(make(chance, index) for index in range(policies)), encoding="utf-8")
    loaded = load_kyverno([PolicySource(path=file, label="p", builtin=False)])
    assert len(loaded.policies) == policies, loaded.gaps
    items = [collected(value) for value in some_objects(chance, objects)]
    seen = [
        collected({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        for name, labels in zip(NAMESPACES, LABELS, strict=False)
    ]
    surroundings = surroundings_of(inventory_of(loaded.rules, seen))
    request = Request()
    runs = CliRuns(cli, tmp_path, request, Effort())
    ready = [make_ready(policy, request, cli.capabilities, surroundings).policy for policy in loaded.policies]
    due = tuple((policy, rule) for policy in loaded.policies for rule in policy.rules)
    subjects = layers([subject_of(item, due, {}) for item in items])[0]
    attempt = runs.attempt(
        RunRequest(family=family, policies=ready, subjects=subjects, surroundings=surroundings)
    )
    assert attempt.ok, attempt.reason
    expectations = Expectations(request, surroundings)
    differences: list[tuple[str, str, bool | None, bool]] = []
    selected = 0
    for subject, rows in zip(subjects, attempt.rows, strict=True):
        there = {(row.policy, row.rule) for row in rows}
        for policy, rule in due:
            if policy.name in attempt.refused:
                continue
            variants = expectations.of(subject, policy, rule)
            for variant, expected in _by_row(variants):
                got = any(name == policy.row_name and variant in ("", row) for name, row in there)
                selected += got
                if expected is not got and not _also_matches_nothing(family, policy, got=got):
                    differences.append((_shown(subject), policy.document.decode(), expected, got))
    assert not differences, differences[:3]
    assert selected > 80
    assert len(attempt.refused) < policies // 4, attempt.refused


def _also_matches_nothing(family: PolicyFamily, policy: KyvernoPolicy, *, got: bool) -> bool:
    """The CLI asks an object selector about an empty old object too: NotIn and DoesNotExist always hold for it.

    No cluster does on creation; the engine drops such rows.
    """
    return (
        got
        and family is PolicyFamily.VALIDATING
        and any(
            f'"operator":"{operator}"' in policy.document.decode() for operator in ("NotIn", "DoesNotExist")
        )
    )


def _by_row(variants: list[tuple[RuleVariant, bool | None]]) -> list[tuple[str, bool | None]]:
    """Variants of policies in CEL share their rows."""
    rows = dict.fromkeys(variant.row for variant, _ in variants)
    return [(row, any_of(one for variant, one in variants if variant.row == row)) for row in rows]


def _shown(subject: Subject) -> str:
    return f"{subject.item.ref.title} {subject.value['metadata']}"
