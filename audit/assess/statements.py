"""Which statements are valid now, for which control and cluster."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from audit.model.acceptance import Claim, Statement
from audit.model.assessment import ControlRow, ControlStatus, Reason
from audit.model.result import StatementState


class Said(NamedTuple):
    """What people say of one control on one cluster."""

    met: Statement | None = None
    """The newest valid one with this claim; likewise below."""
    not_met: Statement | None = None
    not_applicable: Statement | None = None
    expired: Statement | None = None
    """The newest that has ended."""


NOTHING_SAID = Said()


def is_valid(statement: Statement, now: dt.datetime) -> bool:
    """Made already, not ended, and with a reason where it says "not applicable"."""
    return not why_not(statement, now)


def why_not(statement: Statement, now: dt.datetime) -> Literal["", "not_yet", "ended", "no_reason"]:
    """Why a statement does not count at all; empty when it is valid."""
    if not statement.is_live(now):
        return "ended"
    if statement.date > now.date():
        return "not_yet"
    if statement.claim is Claim.NOT_APPLICABLE and not statement.text.strip():
        return "no_reason"
    return ""


class StatementIndex:
    """Statements by control. `now` is aware and in UTC."""

    def __init__(self, statements: Iterable[Statement], now: dt.datetime) -> None:
        self._now = now
        self._by_control: dict[tuple[str, str], list[Statement]] = {}
        for statement in sorted(statements, key=lambda s: (s.date, s.expires, s.id)):
            self._by_control.setdefault((statement.framework, statement.control), []).append(statement)

    def said(self, framework: str, control: str, cluster: str) -> Said:
        """What is said of a control on a cluster; of two statements with one claim the newer counts."""
        statements = self._by_control.get((framework, control))
        if not statements:
            return NOTHING_SAID
        valid: dict[Claim, Statement] = {}
        expired = None
        for statement in statements:
            if statement.clusters and cluster not in statement.clusters:
                continue
            if is_valid(statement, self._now):
                valid[statement.claim] = statement
            elif not statement.is_live(self._now):
                expired = statement
        return Said(
            met=valid.get(Claim.MET),
            not_met=valid.get(Claim.NOT_MET),
            not_applicable=valid.get(Claim.NOT_APPLICABLE),
            expired=expired,
        )


def statement_states(
    statements: Sequence[Statement], rows: Iterable[ControlRow], now: dt.datetime
) -> tuple[StatementState, ...]:
    """Each statement, whether it is still live, and whether some control's status rests on it."""
    used = {
        (row.framework, row.id, member.statement)
        for row in rows
        for member in (row.fleet, *row.members)
        if member.statement and _counts(member.status, member.reasons)
    }
    return tuple(
        StatementState(
            statement=statement,
            live=is_valid(statement, now),
            counted=is_valid(statement, now)
            and (statement.framework, statement.control, statement.id) in used,
            why_not=why_not(statement, now),
        )
        for statement in statements
    )


def _counts(status: ControlStatus, reasons: tuple[Reason, ...]) -> bool:
    wanted = {
        ControlStatus.SATISFIED: Reason.STATEMENT_MET,
        ControlStatus.WAIVED: Reason.STATEMENT_MET,
        ControlStatus.NOT_SATISFIED: Reason.STATEMENT_NOT_MET,
        ControlStatus.NOT_APPLICABLE: Reason.STATEMENT_NOT_APPLICABLE,
    }.get(status)
    return wanted in reasons
