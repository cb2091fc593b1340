"""One suite for all engines of Rego rules: the embedded OPA, and a server reached in each way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.evaluate.opa_server.program import Program
from audit.model.finding import Outcome, PairAnswer
from audit.native.evaluator import EvalLimits
from tests.opa_server.contract import BUILTIN_ERROR, INVENTORY, OBJECTS, OTHER_INVENTORY, SHAPES, program
from tests.opa_server.programs import (
    Embedded,
    Judge,
    Remote,
    bundle_server,
    canonical,
    server_engine,
    write_bundle,
)

pytestmark = pytest.mark.tools
ENGINES = ("embedded", "managed", "pushed", "bundle")


@contextlib.contextmanager
def opened(name: str, program_: Program, remote: Remote, folder: Path) -> Iterator[Judge]:
    if name == "embedded":
        embedded = Embedded(program_, EvalLimits())
        yield embedded
        embedded.evaluator.close()
    elif name == "managed":
        with server_engine(program_) as engine:
            yield engine
    elif name == "pushed":
        with server_engine(program_, url=remote.url) as engine:
            yield engine
    else:
        with (
            bundle_server(folder, write_bundle(program_, folder)) as site,
            server_engine(program_, url=site.url, bundle=True) as engine,
        ):
            yield engine


@pytest.fixture(scope="module", params=ENGINES)
def judge(
    request: pytest.FixtureRequest, remote: Remote, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Judge]:
    with opened(request.param, program(), remote, tmp_path_factory.mktemp("judge")) as found:
        yield found


@pytest.fixture(scope="module")
def wanted() -> Iterator[list[list[PairAnswer]]]:
    """The embedded engine's answers about all objects."""
    embedded = Embedded(program(), EvalLimits())
    yield list(embedded.answers(OBJECTS, INVENTORY))
    embedded.evaluator.close()


@pytest.fixture
def lenient(request: pytest.FixtureRequest) -> bool:
    """Whether the engine under test takes a failed builtin for undefined."""
    return request.node.callspec.params["judge"] == "bundle"


def test_every_shape_of_answer(judge: Judge, *, lenient: bool) -> None:
    [answers] = list(judge.answers(OBJECTS[:1], INVENTORY))
    by_rule = {answer.rule: answer for answer in answers}
    assert list(by_rule) == [*(f"r/{name}" for name in SHAPES), "r/odd-name", "r/again"]
    for name, shape in SHAPES.items():
        answer = by_rule[f"r/{name}"]
        if name == BUILTIN_ERROR and lenient:
            assert answer.outcome is Outcome.PASS
            continue
        assert (answer.outcome.value, answer.reason) == (shape.outcome, shape.reason), (name, answer)
        if shape.message:
            assert answer.message == shape.message
        if shape.seen is not None:
            assert answer.violations[0].seen == shape.seen, name
    assert len(by_rule["r/many"].violations) == 1000
    assert len(by_rule["r/long_message"].violations[0].message) == 2048
    assert by_rule["r/index_path"].violations[0].path == ("a", 0, 12)


def test_answers_are_those_of_the_embedded_engine_to_the_byte(
    judge: Judge, wanted: list[list[PairAnswer]], *, lenient: bool
) -> None:
    got = list(judge.answers(OBJECTS, INVENTORY))
    if lenient:
        got, wanted = _without(f"r/{BUILTIN_ERROR}", got), _without(f"r/{BUILTIN_ERROR}", wanted)
    for (kind, raw), one, other in zip(OBJECTS, got, wanted, strict=True):
        for answer, expected in zip(one, other, strict=True):
            assert answer == expected, (kind, raw[:80])
    assert canonical(got) == canonical(wanted)


def _without(rule: str, answers: list[list[PairAnswer]]) -> list[list[PairAnswer]]:
    return [[answer for answer in each if answer.rule != rule] for each in answers]


def test_the_inventory_is_replaced(judge: Judge) -> None:
    seen = []
    for inventory in (INVENTORY, OTHER_INVENTORY, INVENTORY):
        [answers] = list(judge.answers(OBJECTS[4:5], inventory))
        seen.append({a.rule: a.violations[0].seen for a in answers if a.rule.startswith("r/inventory")})
    both = ("r/inventory", "r/inventory_through_library")
    assert seen == [dict.fromkeys(both, names) for names in (["n1", "n2"], [], ["n1", "n2"])]


def test_order_holds_over_many_batches(judge: Judge) -> None:
    objects = [("Secret", b'{"metadata":{"name":"n%d"}}' % number) for number in range(450)]
    answers = list(judge.answers(iter(objects), INVENTORY))
    assert [[(a.rule, a.violations[0].seen) for a in each] for each in answers] == [
        [("r/again", f"n{number}")] for number in range(450)
    ]


def test_objects_that_no_rule_wants_and_no_objects(judge: Judge) -> None:
    assert list(judge.answers([], INVENTORY)) == []


def test_input_that_is_no_json_costs_its_own_answers(judge: Judge) -> None:
    good = OBJECTS[4]
    first, bad, second = judge.answers([good, ("Node", b'{"a": }, {"b": 1'), good], INVENTORY)
    assert canonical([first]) == canonical([second])
    assert {answer.reason for answer in bad} == {"bad_input"}
    assert len(bad) == len(SHAPES)


def test_old_dialect_where_a_server_can_take_it(tmp_path: Path, remote: Remote) -> None:
    both = {}
    for name in ("embedded", "managed"):
        with opened(name, program(old=True), remote, tmp_path) as judge:
            both[name] = canonical(judge.answers(OBJECTS[:2], INVENTORY))
    assert both["embedded"] == both["managed"]
    assert b'"r/old"' in both["managed"][0]
