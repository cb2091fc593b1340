"""Two answers that never merge: were the gates met, and was the audit complete. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.model.assessment import Fraction, FrameworkScore
from audit.model.gap import Gap
from audit.model.result import Gate, GroupCounts
from audit.model.rule import Severity
from audit.model.run import Denominator


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
    conditions: GateConditions, scores: Sequence[FrameworkScore], groups: GroupCounts, objects: int
) -> tuple[Gate, ...]:
    """One gate per condition. A ratio that is not stated meets no floor."""
    gates: list[Gate] = []
    if conditions.fail_on is not None:
        gates.append(_severity_gate(conditions.fail_on, groups))
    by_id = {score.framework: score for score in scores}
    for name, floors in (("min-ratio", conditions.min_ratio), ("min-coverage", conditions.min_coverage)):
        for framework, floor in sorted(floors.items()):
            score = by_id[framework]
            fraction = score.strict if name == "min-ratio" else score.evidence_coverage
            gates.append(
                Gate(
                    condition=f"{name} {framework}={floor:g}",
                    met=fraction.value is not None and fraction.value >= floor,
                    detail=_stated(fraction),
                )
            )
    if conditions.min_objects is not None:
        met = objects >= conditions.min_objects
        gates.append(
            Gate(condition=f"min-objects {conditions.min_objects}", met=met, detail=f"{objects} objects")
        )
    return tuple(gates)


def incomplete_reasons(denominator: Denominator, errors: int, gaps: Sequence[Gap]) -> tuple[str, ...]:
    """Why the audit is incomplete; empty when nothing was left unlooked at that is not tolerated.

    Args:
        denominator: what came in.
        errors: error pairs that no gap explains; those that one does stand or fall with the gap.
        gaps: with `allowed` set on the tolerated ones.
    """
    reasons: list[str] = []
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
    return tuple(reasons)


def _severity_gate(floor: Severity, groups: GroupCounts) -> Gate:
    found = {s.value: groups.open.get(s.value, 0) for s in Severity if s.rank <= floor.rank}
    named = ", ".join(f"{number} {severity}" for severity, number in found.items() if number)
    return Gate(
        condition=f"fail-on {floor.value}",
        met=not any(found.values()),
        detail=f"{named} open" if named else f"no open finding of {floor.value} or worse",
    )


def _stated(fraction: Fraction) -> str:
    percent = fraction.percent_truncated
    if percent is None:
        return "not stated (0/0)"
    return f"{fraction.numerator}/{fraction.denominator} ({percent} %)"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"
