"""Rolls members up into the fleet: the worst status wins, and says who holds it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from audit.assess.evidence import summed
from audit.model.assessment import ControlAssessment, ControlStatus, Reason, RuleEvidence

# Worst first.
_ORDER = (
    ControlStatus.NOT_SATISFIED,
    ControlStatus.INDETERMINATE,
    ControlStatus.WAIVED,
    ControlStatus.SATISFIED,
    ControlStatus.NOT_APPLICABLE,
)
_RANK = {status: rank for rank, status in enumerate(_ORDER)}
_REASON_RANK = {reason: rank for rank, reason in enumerate(Reason)}


def worst(statuses: Iterable[ControlStatus]) -> ControlStatus:
    """The worst of at least one status."""
    return min(statuses, key=_RANK.__getitem__)


def roll_up(members: Sequence[ControlAssessment]) -> ControlAssessment:
    """The fleet's assessment from those of at least one member.

    Its primary reason is, of the primary reasons of the members that have the fleet's status, the first in the order in
    which `Reason` lists them. Classic table: scanned where any member was, complying where all scanned members do.
    """
    status = worst(member.status for member in members)
    holding = [member for member in members if member.status is status]
    reason = min((member.reason for member in holding), key=_REASON_RANK.__getitem__)
    others = {r for member in holding for r in member.reasons} - {reason}
    spoken = next((m for m in holding if m.reason is reason and m.statement), None)
    if spoken is None:
        spoken = next((member for member in holding if member.statement), holding[0])
    scanned = [member for member in members if member.technical_scanned]
    complies = bool(scanned) and all(member.technical_complies for member in scanned)
    technical = [m.technical_status for m in members if m.technical_status is not None]
    held_back = status not in (ControlStatus.SATISFIED, ControlStatus.NOT_APPLICABLE)
    return msgspec.structs.replace(
        members[0],
        cluster="",
        status=status,
        reason=reason,
        reasons=(reason, *sorted(others, key=lambda r: r.value)),
        evidence=_summed(members),
        statement=spoken.statement,
        statement_text=spoken.statement_text,
        contradicted=any(member.contradicted for member in members),
        technical_status=worst(technical) if technical else None,
        technical_scanned=bool(scanned),
        technical_complies=complies,
        technical_by_waiver=complies and any(member.technical_by_waiver for member in members),
        gaps=_union([member.gaps for member in members]),
        held_back_clusters=tuple(m.cluster for m in holding if m.cluster) if held_back else (),
    )


def _summed(members: Sequence[ControlAssessment]) -> tuple[RuleEvidence, ...]:
    if len(members) == 1:
        return members[0].evidence
    # Every member of a control lists the same rules in the same order.
    return tuple(summed(list(parts)) for parts in zip(*(m.evidence for m in members), strict=True))


def _union(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    distinct = set(parts)
    if len(distinct) == 1:
        return parts[0]
    return tuple(sorted({index for part in distinct for index in part}))
