"""Gates: met by evidence, failed by evidence, and not decided where there was none."""

from __future__ import annotations

import pytest

from audit.model.finding import Outcome
from audit.model.result import GroupCounts, RuleState
from audit.model.rule import Severity
from audit.model.tally import Tally
from audit.report.texts import Texts
from audit.report.view_verdict import gate_detail, incomplete_text
from audit.score.verdict import GateConditions, incomplete_reasons, judge_gates
from tests import builders as b

NOTHING_OPEN = GroupCounts(
    open={severity.value: 0 for severity in Severity}, waived=0, errors=0, warns=0, findings=0
)
HIGH = b.rule("pod/high", severity=Severity.HIGH)
LOW = b.rule("pod/low", severity=Severity.LOW)
WARNS = b.rule("pod/warns", severity=Severity.CRITICAL, warn_only=True)


def states(*asked: str) -> tuple[RuleState, ...]:
    return tuple(RuleState(rule=rule, selected=rule.id in asked) for rule in (HIGH, LOW, WARNS))


def tally(*counts: tuple[str, Outcome, int]) -> Tally:
    made = Tally()
    for rule, outcome, number in counts:
        made.add(rule, "east", outcome, number=number)
        made.add_due(rule, "east", number)
    return made


EVERYTHING = states("pod/high", "pod/low", "pod/warns")


@pytest.mark.parametrize(
    ("rules", "counts", "met", "detail"),
    [
        (EVERYTHING, tally(), None, "nothing was evaluated"),
        (states(), tally(), None, "nothing was evaluated"),
        (EVERYTHING, tally(("pod/high", Outcome.PASS, 1)), True, "no open finding of high or worse"),
        # Nothing of the kind is there: looked for, and absent.
        (EVERYTHING, tally(("pod/low", Outcome.PASS, 1)), True, "no open finding of high or worse"),
        (EVERYTHING, tally(("pod/high", Outcome.SKIP, 2)), True, "no open finding of high or worse"),
        (states("pod/low"), tally(("pod/low", Outcome.PASS, 1)), None, "no rule of high or worse was asked"),
        (
            states("pod/low", "pod/warns"),
            tally(("pod/warns", Outcome.WARN, 1)),
            None,
            "no rule of high or worse was asked",
        ),
        (
            EVERYTHING,
            tally(("pod/high", Outcome.ERROR, 3), ("pod/low", Outcome.PASS, 1)),
            None,
            "none of 3 pairs of high or worse could be judged",
        ),
    ],
)
def test_a_gate_on_findings_needs_something_that_was_judged(
    rules: tuple[RuleState, ...], counts: Tally, met: bool | None, detail: str
) -> None:
    conditions = GateConditions(fail_on=Severity.HIGH)
    (gate,) = judge_gates(conditions, (), NOTHING_OPEN, 1, rules, counts)
    assert (gate.met, gate_detail(gate, Texts())) == (met, detail)


def test_what_was_found_fails_whatever_else_is_missing() -> None:
    found = GroupCounts(open={**NOTHING_OPEN.open, "critical": 2}, waived=0, errors=0, warns=0, findings=2)
    for rules, counts in ((states(), tally()), (EVERYTHING, tally(("pod/high", Outcome.ERROR, 3)))):
        (gate,) = judge_gates(GateConditions(fail_on=Severity.HIGH), (), found, 1, rules, counts)
        assert (gate.met, gate_detail(gate, Texts())) == (False, "2 critical open")


def test_a_floor_under_a_ratio_that_is_not_stated_is_not_decided() -> None:
    score = b.score(strict=b.fraction(0, 0), evidence_coverage=b.fraction(0, 0))
    conditions = GateConditions(
        min_ratio={score.framework: 0.0}, min_coverage={score.framework: 0.5}, min_objects=1
    )
    gates = judge_gates(conditions, (score,), NOTHING_OPEN, 0, EVERYTHING, tally())
    assert [gate.met for gate in gates] == [None, None, False]
    assert [gate_detail(gate, Texts()) for gate in gates] == ["not stated", "not stated", "0 objects"]


def test_a_gate_that_is_not_decided_leaves_the_audit_incomplete() -> None:
    gates = [b.gate(condition="fail-on high", met=met) for met in (True, False, None)]
    denominator = b.record().denominator
    reasons = incomplete_reasons(denominator, 0, (), gates)
    (more,) = set(reasons) - set(incomplete_reasons(denominator, 0, ()))
    assert incomplete_text(more, Texts()) == "gate fail-on high could not be decided"
