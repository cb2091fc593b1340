"""Policies with anything in any place: reading them ends in rules or in gaps, never in a crash."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from audit.evaluate.kyverno.capabilities import capabilities_of
from audit.evaluate.kyverno.expectation import Expectations
from audit.evaluate.kyverno.offline import make_ready
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.subjects import subject_of
from audit.evaluate.kyverno.surroundings import surroundings_of
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from tests.kyverno.conftest import GAP_FREE_POLICIES
from tests.kyverno.objects import collected

JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    1.5,
    "",
    "text",
    [],
    {},
    [None],
    [[]],
    {"a": None},
    ["x", 1],
    {"any": 3},
    "*",
    -1,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def spoilt(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    copied = copy.deepcopy(document)
    for _ in range(chance.choice([1, 1, 2, 3])):
        path = chance.choice(places(copied))
        here = copied
        for key in path[:-1]:
            here = here[key]
        if chance.random() < 0.2:
            del here[path[-1]]
        else:
            here[path[-1]] = copy.deepcopy(chance.choice(JUNK))
        if not places(copied):
            break
    return copied


@pytest.mark.parametrize("seed", range(8))
def test_anything_anywhere(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    documents = [document for document in yaml.safe_load_all(GAP_FREE_POLICIES) if document]
    capabilities = capabilities_of((1, 19, 1))
    assert capabilities is not None
    request, surroundings = Request(), surroundings_of(b"")
    read = refused = 0
    for number in range(120):  # most of what is spoilt is refused, and some must get through
        file = tmp_path / f"{number}.yaml"
        file.write_text(yaml.safe_dump(spoilt(chance.choice(documents), chance)), encoding="utf-8")
        loaded = load_kyverno([PolicySource(path=file, label="p.yaml", builtin=False)])
        read += len(loaded.rules)
        refused += len(loaded.gaps)
        due = tuple((policy, rule) for policy in loaded.policies for rule in policy.rules)
        for policy in loaded.policies:
            make_ready(policy, request, capabilities, surroundings)
        for value in spoilt(OBJECT, chance), OBJECT:
            item = msgspec.structs.replace(collected(OBJECT), raw=msgspec.json.encode(value))
            subject = subject_of(item, due, {})
            if subject.facts is not None:
                expectations = Expectations(request, surroundings)
                for policy, rule in due:
                    expectations.of(subject, policy, rule)
    assert read > 20
    assert refused > 3


OBJECT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
}
