"""The cheapest next steps, each with the strict ratio it alone would give.

Every ratio comes from deciding the controls anew with the step made. A step's cost is the number of things to do:
statements to give, pairs to mend, gaps to close. Steps are ordered by cost for each control gained. A waiver is no step:
it never raises the strict ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from audit.model.assessment import ControlRow, ControlStatus, Fraction, NextStep, Reason
from audit.model.change import Change
from audit.score.inputs import WhatIf
from audit.score.ratio import count, is_higher

SHOWN = 5

Members = TypeVar("Members", frozenset[str], frozenset[int])

_OPEN = frozenset({Reason.STATEMENT_OPEN, Reason.STATEMENT_EXPIRED})
_UNBUILT = frozenset({Reason.NO_CHECK_BUILT, Reason.NO_DECIDING_RULE, Reason.SOME_CHECK_NOT_BUILT})


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    step: NextStep
    cost: int
    gained: int
    last_resort: bool = False


class StepFinder:
    """Finds the steps of one framework.

    Args:
        rows: its controls in the profile, in catalog order.
        what_if: decides a control anew under a change.
    """

    def __init__(self, rows: Sequence[ControlRow], what_if: WhatIf) -> None:
        self._rows = rows
        self._what_if = what_if
        self._now = {row.id: row.fleet.status for row in rows}
        self._strict = count(self._now.values()).strict

    def steps(self) -> tuple[NextStep, ...]:
        """At most five, cheapest first."""
        found = [*self._statements(), *self._fixes(), *self._gaps(), *self._builds()]
        found.sort(key=lambda c: (c.last_resort, c.cost / max(1, c.gained), c.cost, c.step.controls))
        return tuple(candidate.step for candidate in found[:SHOWN])

    def _statements(self) -> Iterable[_Candidate]:
        """One step for all open and ended statements; only "met" helps, so what it gives is not certain."""
        waiting = self._with_status(ControlStatus.INDETERMINATE, lambda row: row.fleet.reason in _OPEN)
        after = self._after(waiting, lambda row: Change(answered=frozenset({(row.framework, row.id)})))
        return self._candidate("statements", after, cost=len(_gained(after)), certain=False)

    def _fixes(self) -> Iterable[_Candidate]:
        """One step for each set of rules whose failures alone hold some control back."""
        failing = {
            row.id: frozenset(item.rule for item in row.fleet.evidence if item.decides and item.failed)
            for row in self._with_status(ControlStatus.NOT_SATISFIED, _only_pairs_fail)
        }
        pairs = {item.rule: item.failed for row in self._rows for item in row.fleet.evidence if item.failed}
        rows = [row for row in self._rows if row.id in failing]
        after = self._after(rows, lambda row: Change(fixed_rules=failing[row.id]))
        for rules in _distinct(failing.values()):
            mended = {name: status for name, status in after.items() if failing[name] <= rules}
            yield from self._candidate(
                "fix_rule", mended, cost=sum(pairs[rule] for rule in rules), rules=tuple(sorted(rules))
            )

    def _gaps(self) -> Iterable[_Candidate]:
        """One step for each set of gaps that holds some control back; what they hide may fail."""
        hidden = {
            row.id: frozenset(row.fleet.gaps)
            for row in self._with_status(
                ControlStatus.INDETERMINATE, lambda row: Reason.GAP in row.fleet.reasons
            )
        }
        rows = [row for row in self._rows if row.id in hidden]
        after = self._after(rows, lambda row: Change(closed_gaps=hidden[row.id]))
        for gaps in _distinct(hidden.values()):
            seen = {name: status for name, status in after.items() if hidden[name] <= gaps}
            yield from self._candidate(
                "close_gap", seen, cost=len(gaps), gaps=tuple(sorted(gaps)), certain=False
            )

    def _builds(self) -> Iterable[_Candidate]:
        """Rules for what no rule decides yet: the last resort, since somebody has to write them."""
        unbuilt = self._with_status(ControlStatus.INDETERMINATE, lambda row: row.fleet.reason in _UNBUILT)
        after = self._after(unbuilt, lambda row: Change(built=frozenset({(row.framework, row.id)})))
        return self._candidate(
            "build_check", after, cost=len(_gained(after)), certain=False, last_resort=True
        )

    def _candidate(
        self,
        kind: str,
        after: dict[str, ControlStatus],
        *,
        cost: int,
        rules: tuple[str, ...] = (),
        gaps: tuple[int, ...] = (),
        certain: bool = True,
        last_resort: bool = False,
    ) -> list[_Candidate]:
        gives = self._strict_with(after)
        if not is_higher(gives, self._strict):
            return []
        gained = _gained(after)
        step = NextStep(
            kind=kind, controls=tuple(gained), rules=rules, gaps=gaps, gives=gives, certain=certain
        )
        return [_Candidate(step=step, cost=cost, gained=len(gained), last_resort=last_resort)]

    def _with_status(self, status: ControlStatus, which: Callable[[ControlRow], bool]) -> list[ControlRow]:
        return [row for row in self._rows if row.fleet.status is status and which(row)]

    def _after(
        self, rows: Iterable[ControlRow], change: Callable[[ControlRow], Change]
    ) -> dict[str, ControlStatus]:
        return {row.id: self._what_if(row.framework, row.id, change(row)) for row in rows}

    def _strict_with(self, after: dict[str, ControlStatus]) -> Fraction:
        return count({**self._now, **after}.values()).strict


def _only_pairs_fail(row: ControlRow) -> bool:
    return Reason.STATEMENT_NOT_MET not in row.fleet.reasons


def _gained(after: dict[str, ControlStatus]) -> list[str]:
    return [name for name, status in after.items() if status is ControlStatus.SATISFIED]


def _distinct(sets: Iterable[Members]) -> list[Members]:
    return sorted(set(sets), key=lambda members: (len(members), sorted(map(str, members))))
