"""Policies that recurse, loop, hoard or hang: the pair gets an error, everything else its answer."""

from __future__ import annotations

import pytest

from audit.native import child
from audit.native.evaluator import EvalLimits, Evaluator
from audit.native.supervise import MAX_POISONS
from tests.native.asking import APPLIES, LOOP, PASSES, loaded, modules, outcomes, pods, rules, when

SHORT = EvalLimits(object_seconds=0.4)


def test_recursion_is_found_at_load() -> None:
    with Evaluator(jobs=1) as evaluator:
        report = evaluator.load(
            modules(a=APPLIES + "f(x) := f(x + 1)\nviolations contains f(1)\n"), b"{}", rules(a="")
        )
    assert [problem.code for problem in report.problems] == ["rego_recursion_error"]


@pytest.mark.parametrize(
    "body", [LOOP, "some a in numbers.range(1, 300000000); a == -1"], ids=["loop", "range"]
)
def test_endless_work_is_stopped_and_the_other_rules_answer(body: str) -> None:
    with loaded(SHORT, a=PASSES, b=when("p1", body), c=PASSES) as evaluator:
        answers = list(evaluator.evaluate(pods(4)))
        assert [outcomes(each) for each in answers] == ["ppp", "pep", "ppp", "ppp"]
        assert answers[1][1].reason in ("timeout", "memory")
        assert evaluator.supervisor.restarts == 0


def test_two_endless_rules_are_told_apart() -> None:
    with loaded(SHORT, a=when("p0", LOOP), b=PASSES, c=when("p0", LOOP)) as evaluator:
        assert [outcomes(each) for each in evaluator.evaluate(pods(2))] == ["epe", "ppp"]


def test_a_rule_that_never_ends_is_given_up_after_a_while() -> None:
    """Not a quarter of a minute per hundred objects: the rule is no longer asked, and every pair is still an error."""
    with loaded(
        EvalLimits(object_seconds=0.1),
        a=APPLIES + f"violations contains v if {{ {LOOP}; v := {{}} }}\n",
        b=PASSES,
    ) as evaluator:
        answers = list(evaluator.evaluate(pods(400)))
    assert {outcomes(each) for each in answers} == {"ep"}
    assert {each[0].reason for each in answers} == {"timeout"}
    assert "not asked any more" in answers[-1][0].message


def test_deep_policies_and_deep_values() -> None:
    deep = (
        APPLIES
        + 'violations contains {"path": [], "message": "m", "seen": x} if { x := '
        + "[" * 3000
        + "]" * 3000
        + " }\n"
    )
    with loaded(SHORT, a=deep, b=PASSES) as evaluator:
        [[first, second], [too_deep, _]] = list(
            evaluator.evaluate([pods(1)[0], ("Pod", b'{"metadata": ' + b"[" * 8000 + b"]" * 8000 + b"}")])
        )
    assert first.outcome.value in ("fail", "error")
    assert second.outcome.value == "pass"
    assert (too_deep.outcome.value, too_deep.reason) == ("error", "bad_input")


def test_hoarding_memory_costs_the_object_at_most() -> None:
    hoard = (
        's := sprintf("%0100000d", [1]); t := concat("", [s | some i in numbers.range(1, 100)]);'
        ' u := concat("", [t | some i in numbers.range(1, 100)]); count(u) == -1'
    )
    limits = EvalLimits(object_seconds=20, memory_bytes=400 << 20)
    with loaded(limits, a=when("p2", hoard), b=PASSES) as evaluator:
        answers = list(evaluator.evaluate(pods(5)))
        assert [outcomes(each)[0] for each in answers] == ["p", "p", "e", "p", "p"]
        assert answers[2][0].reason in ("memory", "engine_failed")
        assert [outcomes(each)[1] for place, each in enumerate(answers) if place != 2] == ["p"] * 4


def test_a_builtin_that_cannot_be_stopped_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Printing a number of a billion binary digits takes minutes and never looks at the clock."""
    monkeypatch.setattr(child, "MIN_PATIENCE", 1.0)
    hang = 'x := bits.lsh(1, 1000000000); sprintf("%d", [x]) == ""'
    with loaded(EvalLimits(object_seconds=0.3), a=when("p1", hang), b=PASSES) as evaluator:
        answers = list(evaluator.evaluate(pods(3)))
        assert [outcomes(each) for each in answers] == ["pp", "ee", "pp"]
        assert answers[1][0].reason == "engine_failed"
        assert "killed" in answers[1][0].message
        assert evaluator.supervisor.poisons == 1
        assert evaluator.supervisor.restarts <= 3
        assert [outcomes(each) for each in evaluator.evaluate([pods(1)[0]])] == ["pp"]


def test_the_number_of_poisons_is_bounded() -> None:
    assert MAX_POISONS == 20
