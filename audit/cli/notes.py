"""What a person should know beside the summary: said on standard error, so that standard output stays the summary."""

from __future__ import annotations

from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.model.gap import Notice
from audit.model.result import AssessmentResult

# Notices that say what was not read on purpose, or judged at another time; few, and worth a line each time.
_ALWAYS = frozenset({"excluded", "not_included", "gitignored", "judged_as_of"})


def print_notes(screen: Screen, result: AssessmentResult, *, verbose: bool) -> None:
    """Files left out, rules not asked, waivers and statements that ended; with `verbose` every notice."""
    for notice in result.notices:
        if verbose or notice.code in _ALWAYS:
            _note(screen, f"{_place(notice)}: {notice.message}")
    deselected = sum(not state.selected for state in result.rules)
    if deselected:
        _note(screen, f"{count(deselected, 'rule')} not asked; controls that rest on them stay undecided")
    for waived in result.waivers:
        waiver = waived.waiver
        if not waived.live:
            _note(
                screen,
                f"waiver {waiver.id} of {waiver.owner} has ended; {count(waived.matched, 'pair')} no longer accepted",
            )
        elif waived.warning:
            _note(screen, f"waiver {waiver.id}: {waived.warning}")
    for stated in result.statements:
        if not stated.live:
            statement = stated.statement
            why = {
                "not_yet": f"is dated {statement.date.isoformat()}, later than this audit, and does not count yet",
                "no_reason": "says not applicable without a reason, and does not count",
            }.get(stated.why_not, "has ended")
            _note(screen, f"statement {statement.id} about {statement.control} by {statement.author} {why}")


def _note(screen: Screen, text: str) -> None:
    screen.line(("note: ", "cyan"), text)


def _place(notice: Notice) -> str:
    return f"{notice.source}:{notice.line}" if notice.line else notice.source
