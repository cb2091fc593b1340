"""Loads the list of checks: every check id that a catalog names, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document, Path_, read_document
from audit.library.entries import Problems, entries_of, suggest
from audit.model.control import Catalog, Check, CheckState

STATEMENT_PREFIX = "att."
"""Checks that a person's statement answers: they are built without a rule."""


class _CheckEntry(msgspec.Struct, frozen=True, kw_only=True):
    state: CheckState
    reason: str
    id: str = ""
    ids: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def load_checks(path: Path, catalogs: Sequence[Catalog], rule_ids: Collection[str]) -> tuple[Check, ...]:
    """Load the list of checks, sorted by id.

    Args:
        path: ``controls/checks.yaml``.
        catalogs: the loaded catalogs; list and catalogs must name the same ids.
        rule_ids: rules that exist, selected or not.

    Raises:
        ContentError: an id is listed twice, or is named on one side only; a built check has no rule, one that is not
            built has some, or a rule is unknown. All errors are attached.
    """
    document = read_document(path)
    problems = Problems()
    checks: dict[str, Check] = {}
    named = {check for catalog in catalogs for control in catalog.controls for check in control.checks}
    for place, entry in entries_of(document, "checks", _CheckEntry, problems):
        for error in _errors(document, place, entry, rule_ids):
            problems.add(error)
        for check in entry.ids or (entry.id,):
            if check in checks:
                problems.add(document.error(f"the check {check} is listed twice", place))
            elif check not in named:
                problems.add(
                    document.error(
                        f"no catalog names the check {check}", place, suggestion=suggest(check, named)
                    )
                )
            checks[check] = Check(id=check, state=entry.state, rules=entry.rules, reason=entry.reason)
    for catalog in catalogs:
        for control in catalog.controls:
            for check in control.checks:
                if check not in checks:
                    problems.add(
                        document.error(
                            f"{control.id} names the check {check}, which is not listed here",
                            ("checks",),
                            suggestion=suggest(check, checks),
                        )
                    )
    problems.raise_any()
    return tuple(checks[check] for check in sorted(checks))


def _errors(
    document: Document, place: Path_, entry: _CheckEntry, rule_ids: Collection[str]
) -> list[ContentError]:
    errors = []
    if bool(entry.id) == bool(entry.ids):
        errors.append(document.error("needs either an id or a list of ids", place))
    if not entry.reason.strip():
        errors.append(document.error("may not be empty", (*place, "reason")))
    if entry.state is not CheckState.BUILT and entry.rules:
        errors.append(document.error(f"a check that is {entry.state.value} has no rules", (*place, "rules")))
    by_statement = all(check.startswith(STATEMENT_PREFIX) for check in entry.ids or (entry.id,))
    if entry.state is CheckState.BUILT and not entry.rules and not by_statement:
        errors.append(document.error("a built check names the rules that ask it", place))
    for index, rule in enumerate(entry.rules):
        if rule not in rule_ids:
            errors.append(
                document.error(
                    f"unknown rule {rule}", (*place, "rules", index), suggestion=suggest(rule, rule_ids)
                )
            )
    return errors
