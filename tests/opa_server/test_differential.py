"""All shipped rules over odd objects, on the embedded OPA and on servers: findings are equal to the byte."""

from __future__ import annotations

import collections
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from audit.native.evaluator import EvalLimits, EvalRule
from tests.opa_server.odd_objects import inventory_of, odd_objects
from tests.opa_server.programs import (
    Embedded,
    Judge,
    Remote,
    bundle_server,
    canonical,
    program_of,
    server_engine,
    shipped,
    write_bundle,
)

pytestmark = pytest.mark.tools

COUNT = int(os.environ.get("FLEETAUDIT_DIFFERENTIAL_OBJECTS", "400"))
SEED = 20261130


@pytest.fixture(scope="module")
def items() -> list[tuple[str, bytes]]:
    return list(odd_objects(COUNT, SEED))


@pytest.fixture(scope="module")
def inventory(items: list[tuple[str, bytes]]) -> bytes:
    rule_set, _ = shipped()
    kinds = frozenset(kind for rule in rule_set.rules for kind in rule.context_kinds)
    return inventory_of(items[:120], kinds)


@pytest.fixture(scope="module")
def wanted(items: list[tuple[str, bytes]], inventory: bytes) -> list[bytes]:
    return embedded_answers(items, inventory, strict=True)


def embedded_answers(items: list[tuple[str, bytes]], inventory: bytes, *, strict: bool) -> list[bytes]:
    embedded = Embedded(shipped()[1], EvalLimits(), strict=strict)
    try:
        answers = list(embedded.answers(items, inventory))
    finally:
        embedded.evaluator.close()
    outcomes = collections.Counter(answer.outcome.value for each in answers for answer in each)
    # The comparison says something only where rules really answer, in every way.
    assert min(outcomes[outcome] for outcome in ("pass", "fail", "skip")) > COUNT, outcomes
    assert outcomes["warn"], outcomes
    asked = {answer.rule for each in answers for answer in each if answer.outcome.value != "skip"}
    assert len(asked) > 70, sorted(asked)
    return canonical(answers)


def compare(judge: Judge, items: list[tuple[str, bytes]], inventory: bytes, wanted: list[bytes]) -> None:
    got = canonical(judge.answers(items, inventory))
    for (kind, raw), one, other in zip(items, got, wanted, strict=True):
        assert one == other, (kind, raw[:2000])


def test_managed(items: list[tuple[str, bytes]], inventory: bytes, wanted: list[bytes]) -> None:
    with server_engine(shipped()[1]) as engine:
        compare(engine, items, inventory, wanted)


def test_pushed(
    items: list[tuple[str, bytes]], inventory: bytes, wanted: list[bytes], remote: Remote
) -> None:
    with server_engine(shipped()[1], url=remote.url) as engine:
        compare(engine, items, inventory, wanted)


def test_bundle(items: list[tuple[str, bytes]], inventory: bytes, tmp_path: Path) -> None:
    program = shipped()[1]
    with (
        bundle_server(tmp_path, write_bundle(program, tmp_path)) as site,
        server_engine(program, url=site.url, bundle=True) as engine,
    ):
        assert [notice.code for notice in engine.notices] == ["lenient_engine"]
        compare(engine, items, inventory, embedded_answers(items, inventory, strict=False))


def test_values_near_the_limit_of_what_is_shown() -> None:
    """Whether a value is shown, and the size that is told instead, are counted alike."""
    rng = random.Random(SEED)
    atoms: tuple[Any, ...] = (
        None,
        True,
        0,
        127,
        128,
        -32,
        -33,
        2**31,
        2**40,
        2**63,
        1.5,
        "",
        "a" * 31,
        "é" * 16,
        "x" * 300,
    )

    def value(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(atoms)
        if rng.random() < 0.5:
            return [value(depth - 1) for _ in range(rng.choice((0, 3, 15, 16, 40)))]
        return {f"k{number}": value(depth - 1) for number in range(rng.choice((0, 3, 15, 16, 40)))}

    body = 'applies := true\n\nviolations contains {"path": [], "message": "m", "seen": input.x, "expected": input.y}\n'
    program = program_of({"a.rego": f"package r.a\n\n{body}"}, [EvalRule(id="r/a", package="r.a")])
    objects = [("Pod", json.dumps({"x": value(3), "y": value(3)}).encode()) for _ in range(300)]
    embedded = Embedded(program, EvalLimits())
    try:
        wanted = canonical(embedded.answers(objects, b"{}"))
    finally:
        embedded.evaluator.close()
    assert 30 < sum(b"(a value of" in line for line in wanted) < 270
    with server_engine(program) as engine:
        assert canonical(engine.answers(objects, b"{}")) == wanted
