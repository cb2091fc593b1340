"""Rules that loop, hoard or raise on a server: the pair gets an error, everything else its answer."""

from __future__ import annotations

import time

import pytest

from audit.evaluate.opa_server.asker import APART_AFTER, SUSPENDED_AFTER
from audit.evaluate.opa_server.program import Program
from audit.native.evaluator import EvalLimits
from tests.native.asking import APPLIES, LOOP, PASSES, modules, outcomes, pods, rules, when
from tests.opa_server.programs import Embedded, canonical, program_of, server_engine

pytestmark = pytest.mark.tools

CONFLICT = 'f(x) := "a" if x > 0\nf(x) := "b" if x > 0\n'
RAISES = f'{APPLIES}violations contains {{"path": [], "message": f(1)}}\n{CONFLICT}'


def made(**bodies: str) -> Program:
    return program_of(modules(**bodies), rules(**bodies))


def test_endless_work_is_stopped_and_the_other_rules_answer() -> None:
    program = made(a=PASSES, b=when("p1", LOOP), c=PASSES)
    with server_engine(program, timeout_seconds=2.0, object_seconds=0.5) as engine:
        answers = list(engine.answers(pods(4), b"{}"))
    assert [outcomes(each) for each in answers] == ["ppp", "pep", "ppp", "ppp"]
    assert (answers[1][1].reason, answers[1][1].message) == (
        "timeout",
        "stopped: the evaluation takes too long",
    )


def test_two_endless_rules_are_told_apart() -> None:
    program = made(a=when("p0", LOOP), b=PASSES, c=when("p0", LOOP))
    with server_engine(program, timeout_seconds=2.0, object_seconds=0.5) as engine:
        assert [outcomes(each) for each in engine.answers(pods(2), b"{}")] == ["epe", "ppp"]


def test_a_rule_that_never_ends_is_given_up_after_a_while() -> None:
    program = made(a=f"{APPLIES}violations contains v if {{ {LOOP}; v := {{}} }}\n", b=PASSES)
    started = time.monotonic()
    with server_engine(program, timeout_seconds=1.0, object_seconds=0.2, jobs=1) as engine:
        answers = list(engine.answers(pods(300), b"{}"))
    assert {outcomes(each) for each in answers} == {"ep"}
    assert {each[0].reason for each in answers} == {"timeout"}
    assert "not asked any more" in answers[-1][0].message
    assert sum("takes too long" in each[0].message for each in answers) == SUSPENDED_AFTER
    assert time.monotonic() - started < 60


def test_a_rule_that_always_raises_costs_no_other_rule_anything() -> None:
    program = made(a=PASSES, b=RAISES, c=PASSES)
    with server_engine(program, jobs=1) as engine:
        answers = list(engine.answers(pods(4 * APART_AFTER), b"{}"))
    embedded = Embedded(program, EvalLimits())
    try:
        assert canonical(answers) == canonical(embedded.answers(pods(4 * APART_AFTER), b"{}"))
    finally:
        embedded.evaluator.close()
    assert {outcomes(each) for each in answers} == {"pep"}


def test_a_library_that_raises_leads_to_the_rules_that_use_it() -> None:
    """OPA names the library's file; which rules it is about is found by asking fewer at a time."""
    sources = modules(a=PASSES, b="import data.lib.x\n" + RAISES.replace("f(1)", "x.f(1)"), c=PASSES) | {
        "x.rego": f"package lib.x\n\n{CONFLICT}"
    }
    program = program_of(sources, rules(a="", b="", c=""))
    with server_engine(program) as engine:
        [answers] = list(engine.answers(pods(1), b"{}"))
    assert outcomes(answers) == "pep"
    assert answers[1].message.startswith("x.rego:4: function data.lib.x.f produced conflicting values")


def test_hoarding_memory_costs_the_object_at_most() -> None:
    """The server is killed before it takes the machine with it, started anew, and the object found."""
    hoard = (
        's := sprintf("%0100000d", [1]); t := concat("", [s | some i in numbers.range(1, 100)]);'
        ' u := [concat("", [t, sprintf("%d", [i])]) | some i in numbers.range(1, 1000)]; count(u) == -1'
    )
    program = made(a=when("p2", hoard), b=PASSES)
    with server_engine(
        program, memory_bytes=200 << 20, timeout_seconds=30.0, object_seconds=20.0, jobs=1
    ) as engine:
        answers = list(engine.answers(pods(4), b"{}"))
    assert [outcomes(each) for each in answers if each is not answers[2]] == ["pp"] * 3
    assert answers[2][0].outcome.value == "error"
    assert answers[2][0].reason in {"engine_failed", "timeout"}


def test_deep_objects() -> None:
    deep = ("Pod", b'{"metadata": {"name": "d", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}}")
    bottomless = ("Pod", b'{"metadata": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    with server_engine(made(a=PASSES)) as engine:
        answers = list(engine.answers([*pods(1), deep, bottomless, *pods(1)], b"{}"))
    assert [outcomes(each) for each in answers] == ["p", "p", "e", "p"]
