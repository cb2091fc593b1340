"""Two answers that never merge: were the gates met, and was the audit complete. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.model.assessment import Fraction, FrameworkScore
from audit.model.finding import Outcome
from audit.model.gap import Gap, GapKind
from audit.model.result import Gate, GroupCounts, RuleState
from audit.model.rule import Severity
from audit.model.run import Denominator
from audit.model.tally import Tally


class GateConditions(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. Empty asks nothing."""

    fail_on: Severity | None = None
    """Fail on open groups of this severity or worse."""
    min_ratio: Mapping[str, float] = {}
    """Framework id to the least strict ratio."""
    min_coverage: Mapping[str, float] = {}
    """Framework id to the least evidence coverage."""
    min_objects: int | None = None


def judge_gates(
    conditions: GateConditions,
    scores: Sequence[FrameworkScore],
    groups: GroupCounts,
    objects: int,
    rules: Sequence[RuleState],
    tally: Tally,
) -> tuple[Gate, ...]:
    """One gate per condition. What nothing was looked at for is neither met nor failed.

    Args:
        conditions: what was asked for.
        scores: of every framework.
        groups: open ones.
        objects: Kubernetes objects judged.
        rules: every loaded rule, and whether it was asked.
        tally: what came of asking.
    """
    gates: list[Gate] = []
    if conditions.fail_on is not None:
        gates.append(_severity_gate(conditions.fail_on, groups, rules, tally))
    by_id = {score.framework: score for score in scores}
    for name, floors in (("min-ratio", conditions.min_ratio), ("min-coverage", conditions.min_coverage)):
        for framework, floor in sorted(floors.items()):
            score = by_id[framework]
            fraction = score.strict if name == "min-ratio" else score.evidence_coverage
            gates.append(
                Gate(
                    condition=f"{name} {framework}={floor:g}",
                    met=None if fraction.value is None else fraction.value >= floor,
                    detail=_stated(fraction),
                )
            )
    if conditions.min_objects is not None:
        met = objects >= conditions.min_objects
        gates.append(
            Gate(condition=f"min-objects {conditions.min_objects}", met=met, detail=f"{objects} objects")
        )
    return tuple(gates)


def incomplete_reasons(
    denominator: Denominator, errors: int, gaps: Sequence[Gap], gates: Sequence[Gate] = ()
) -> tuple[str, ...]:
    """Why the audit is incomplete; empty when nothing was left unlooked at that is not tolerated.

    Args:
        denominator: what came in.
        errors: error pairs that no gap explains; those that one does stand or fall with the gap.
        gaps: with `allowed` set on the tolerated ones.
        gates: those that could not be decided leave the audit incomplete too.
    """
    reasons: list[str] = []
    if any(gap.kind is GapKind.INTERRUPTED for gap in gaps):
        reasons.append(
            f"stopped before the end: {denominator.objects_judged} of {denominator.objects} objects read were judged"
        )
    if denominator.rules == 0:
        reasons.append("no rule was loaded")
    elif denominator.objects == 0:
        reasons.append("no Kubernetes object was found")
    elif denominator.pairs_due == 0:
        reasons.append("no rule matched any object")
    open_gaps = [gap for gap in gaps if not gap.allowed]
    if open_gaps:
        reasons.append(f"{len(open_gaps)} {_plural('gap', len(open_gaps))} not in allow_gaps")
    if errors:
        reasons.append(f"{errors} {_plural('pair', errors)} could not be judged")
    missing = denominator.pairs_due - denominator.pairs_answered
    if missing:
        reasons.append(f"{missing} due {_plural('pair', missing)} got no answer")
    reasons += [f"gate {gate.condition} could not be decided" for gate in gates if gate.met is None]
    return tuple(reasons)


def _severity_gate(floor: Severity, groups: GroupCounts, rules: Sequence[RuleState], tally: Tally) -> Gate:
    found = {s.value: groups.open.get(s.value, 0) for s in Severity if s.rank <= floor.rank}
    named = ", ".join(f"{number} {severity}" for severity, number in found.items() if number)
    condition = f"fail-on {floor.value}"
    if named:
        return Gate(condition=condition, met=False, detail=f"{named} open")
    doubt = _doubt(floor, rules, tally)
    if doubt:
        return Gate(condition=condition, met=None, detail=doubt)
    return Gate(condition=condition, met=True, detail=f"no open finding of {floor.value} or worse")


def _doubt(floor: Severity, rules: Sequence[RuleState], tally: Tally) -> str:
    """Why the absence of findings says nothing; empty when it says something."""
    if not any(tally.due.values()):
        return "nothing was evaluated"
    worse = f"of {floor.value} or worse"
    asked = {
        state.rule.id
        for state in rules
        if state.selected and not state.rule.warn_only and state.rule.severity.rank <= floor.rank
    }
    if not asked:
        return f"no rule {worse} was asked"
    due = sum(number for (rule, _), number in tally.due.items() if rule in asked)
    errors = sum(
        number for key, number in tally.counts.items() if key.rule in asked and key.outcome is Outcome.ERROR
    )
    return f"none of {due} {_plural('pair', due)} {worse} could be judged" if due and errors == due else ""


def _stated(fraction: Fraction) -> str:
    percent = fraction.percent_truncated
    if percent is None:
        return "not stated (0/0)"
    return f"{fraction.numerator}/{fraction.denominator} ({percent} %)"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"
