"""All shipped rules over odd objects, on the embedded OPA and on servers: findings are equal to the byte."""

from __future__ import annotations

import collections
import os
from pathlib import Path

import pytest

from audit.native.evaluator import EvalLimits
from tests.opa_server.odd_objects import inventory_of, odd_objects
from tests.opa_server.programs import (
    Embedded,
    Judge,
    Remote,
    bundle_server,
    canonical,
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
    embedded = Embedded(shipped()[1], EvalLimits())
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


def test_bundle(
    items: list[tuple[str, bytes]], inventory: bytes, wanted: list[bytes], tmp_path: Path
) -> None:
    program = shipped()[1]
    with (
        bundle_server(tmp_path, write_bundle(program, tmp_path)) as site,
        server_engine(program, url=site.url, bundle=True) as engine,
    ):
        assert engine.notices == ()
        compare(engine, items, inventory, wanted)
