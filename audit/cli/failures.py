"""Says what went wrong: place first, then what to do. Tracebacks only when asked for."""

from __future__ import annotations

from audit.cli.screen import Screen
from audit.errors import AuditError

MOST_SHOWN = 50


def print_error(screen: Screen, error: AuditError) -> None:
    """``error: file:line: key: message`` and the suggestion, for the error and those found with it."""
    errors = [error, *error.others]
    for each in errors[:MOST_SHOWN]:
        place = f"{each.place}: " if each.place else ""
        key = f"{each.key}: " if each.key else ""
        screen.line(("error: ", "bold red"), f"{place}{key}{each.message}")
        if each.suggestion:
            screen.line("       ", each.suggestion)
    if len(errors) > MOST_SHOWN:
        screen.line(f"       and {len(errors) - MOST_SHOWN} more")
    if len(errors) > 1:
        screen.line(f"{len(errors)} errors")


def print_message(screen: Screen, message: str, suggestion: str = "") -> None:
    """An error that is no `AuditError`."""
    screen.line(("error: ", "bold red"), message)
    if suggestion:
        screen.line("       ", suggestion)


def warn(screen: Screen, message: str) -> None:
    """Something the user should know that stops nothing."""
    screen.line(("warning: ", "yellow"), message)
