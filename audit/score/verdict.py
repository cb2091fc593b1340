"""Two answers that never merge: were the gates met, and was the audit complete. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.model.assessment import FrameworkScore
from audit.model.finding import Outcome
from audit.model.gap import Gap, GapKind
from audit.model.gate import Gate, GateReason, IncompleteCode, IncompleteReason
from audit.model.result import GroupCounts, RuleState
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
                    reason=GateReason.RATIO,
                    fraction=fraction,
                )
            )
    if conditions.min_objects is not None:
        gates.append(
            Gate(
                condition=f"min-objects {conditions.min_objects}",
                met=objects >= conditions.min_objects,
                reason=GateReason.OBJECTS,
                number=objects,
            )
        )
    return tuple(gates)


def incomplete_reasons(
    denominator: Denominator, errors: int, gaps: Sequence[Gap], gates: Sequence[Gate] = ()
) -> tuple[IncompleteReason, ...]:
    """Why the audit is incomplete; empty when nothing was left unlooked at that is not tolerated.

    Args:
        denominator: what came in.
        errors: error pairs that no gap explains; those that one does stand or fall with the gap.
        gaps: with `allowed` set on the tolerated ones.
        gates: those that could not be decided leave the audit incomplete too.
    """
    reasons: list[IncompleteReason] = []

    def add(code: IncompleteCode, number: int = 0, of: int = 0, gate: str = "") -> None:
        reasons.append(IncompleteReason(code=code, number=number, of=of, gate=gate))

    if any(gap.kind is GapKind.INTERRUPTED for gap in gaps):
        add(IncompleteCode.STOPPED, denominator.objects_judged, denominator.objects)
    if denominator.rules == 0:
        add(IncompleteCode.NO_RULE)
    elif denominator.objects == 0:
        add(IncompleteCode.NO_OBJECT)
    elif denominator.pairs_due == 0:
        add(IncompleteCode.NO_MATCH)
    if open_gaps := sum(1 for gap in gaps if not gap.allowed):
        add(IncompleteCode.GAPS, open_gaps)
    if errors:
        add(IncompleteCode.ERRORS, errors)
    if missing := denominator.pairs_due - denominator.pairs_answered:
        add(IncompleteCode.MISSING, missing)
    for gate in gates:
        if gate.met is None:
            add(IncompleteCode.GATE_NOT_DECIDED, gate=gate.condition)
    return tuple(reasons)


def _severity_gate(floor: Severity, groups: GroupCounts, rules: Sequence[RuleState], tally: Tally) -> Gate:
    found = {s.value: groups.open.get(s.value, 0) for s in Severity if s.rank <= floor.rank}
    number = 0
    met: bool | None
    if any(found.values()):
        met, reason = False, GateReason.OPEN_GROUPS
    else:
        doubt, number = _doubt(floor, rules, tally)
        met, reason = None if doubt else True, doubt or GateReason.NO_OPEN_GROUP
    return Gate(
        condition=f"fail-on {floor.value}",
        met=met,
        reason=reason,
        severity=floor,
        open={severity: open_ for severity, open_ in found.items() if open_},
        number=number,
    )


def _doubt(floor: Severity, rules: Sequence[RuleState], tally: Tally) -> tuple[GateReason | None, int]:
    """Why the absence of findings says nothing, and the pairs this is about; None when it says something."""
    if not any(tally.due.values()):
        return GateReason.NOTHING_EVALUATED, 0
    asked = {
        state.rule.id
        for state in rules
        if state.selected and not state.rule.warn_only and state.rule.severity.rank <= floor.rank
    }
    if not asked:
        return GateReason.NO_RULE_ASKED, 0
    due = sum(number for (rule, _), number in tally.due.items() if rule in asked)
    errors = sum(
        number for key, number in tally.counts.items() if key.rule in asked and key.outcome is Outcome.ERROR
    )
    return (GateReason.NONE_JUDGED, due) if due and errors == due else (None, 0)
