"""Explains a control: what decides it, and in a result why it has its status."""

from __future__ import annotations

from collections.abc import Iterable

from audit.cli.control_page import ControlContent, control_facts
from audit.cli.explanation import Explanation, listed, prose
from audit.cli.lookup import fold
from audit.errors import UsageError
from audit.model.assessment import ControlRow, RuleEvidence
from audit.model.control import Control
from audit.model.finding import Outcome
from audit.model.result import AssessmentResult

SHOWN_GROUPS = 4


def control_in_result(what: str, result: AssessmentResult) -> Explanation | None:
    """The page of a control with its status, or None when the result has no such control.

    Raises:
        UsageError: several frameworks have a control of this id.
    """
    framework, colon, rest = what.partition(":")
    wanted = fold(rest if colon else what)
    rows = [
        row for row in result.controls if fold(row.id) == wanted and (not colon or row.framework == framework)
    ]
    if len(rows) > 1:
        names = " or ".join(f"{row.framework}:{row.id}" for row in rows)
        raise UsageError(f"{what} is in several frameworks", suggestion=f"write {names}")
    return _assessed(rows[0], result) if rows else None


def _assessed(row: ControlRow, result: AssessmentResult) -> Explanation:
    fleet = row.fleet
    causes = ", ".join(_words(reason.value) for reason in fleet.reasons) or _words(fleet.reason.value)
    profile = "" if fleet.in_profile else "; not in the profile of this run"
    contradicted = "; contradicted by a supporting rule" if fleet.contradicted else ""
    gaps = [result.gaps[index] for index in fleet.gaps if index < len(result.gaps)]
    statement = f"{fleet.statement}: {fleet.statement_text}" if fleet.statement else ""
    return Explanation(
        headline=f"{row.id}  {row.framework}, {row.function}, {row.evidence_kind.value}",
        sections=(
            prose("Requires", row.title, least=2),
            listed("Status", [f"{_words(fleet.status.value)}{profile}{contradicted}"]),
            prose("Because", causes, least=2),
            listed("Clusters", [", ".join(fleet.held_back_clusters)] if fleet.held_back_clusters else []),
            prose("Statement", statement, least=1),
            listed("Decides", _evidence(e for e in fleet.evidence if e.decides), least=4),
            listed("Open", _groups(row, result), least=2),
            listed("Gaps", [f"{gap.source}: {gap.reason}" for gap in gaps], least=2),
            listed("Supports", _evidence(e for e in fleet.evidence if not e.decides), least=1),
        ),
    )


def _evidence(evidence: Iterable[RuleEvidence]) -> list[str]:
    """What holds the control back comes first, because the page may have room for little more."""
    worst_first = sorted(evidence, key=lambda e: (-e.failed, -e.errors, -e.waived, e.due == 0, e.rule))
    return [f"{e.rule}: {counts_text(e)}" for e in worst_first]


def counts_text(evidence: RuleEvidence) -> str:
    """``1 fail, 10 pass of 11 due``: outcomes that occurred, the worst first."""
    if not evidence.due:
        return "no subject of its kinds"
    parts = (
        (evidence.failed, "fail"),
        (evidence.errors, "error"),
        (evidence.waived, "waived"),
        (evidence.warned, "warn"),
        (evidence.passed, "pass"),
        (evidence.skipped, "not applicable"),
    )
    said = ", ".join(f"{number:,} {word}" for number, word in parts if number)
    return f"{said or 'no answer'} of {evidence.due:,} due"


def _groups(row: ControlRow, result: AssessmentResult) -> list[str]:
    deciding = {e.rule for e in row.fleet.evidence if e.decides and e.failed}
    found = [
        f"{group.id}  {group.rule}  {group.owner} {group.container}".rstrip()
        for group in result.group_source.groups()
        if group.rule in deciding and group.outcome is Outcome.FAIL and group.waived < group.total
    ]
    more = len(found) - SHOWN_GROUPS
    return [*found[:SHOWN_GROUPS], *([f"and {more} more groups"] if more > 0 else [])]


def control_in_library(framework: str, control: Control, content: ControlContent) -> Explanation:
    """The page of a control as authored."""
    facts = control_facts(framework, control, content)
    checks = [
        f"{check['id']}: {check['state'].replace('_', ' ')}"
        + (f" ({', '.join(check['rules']) or check['reason']})" if check["rules"] or check["reason"] else "")
        for check in facts["checks"]
    ]
    rules = [f"{rule['rule']} ({rule['strength']})" for rule in facts["rules"]]
    return Explanation(
        headline=f"{control.id}  {framework}, {control.function}, {control.evidence_kind.value}",
        sections=(
            prose("Requires", control.title, least=2),
            prose("Means", control.description, least=2),
            listed("Rules", rules or ["none mapped"], least=4),
            listed("Checks", checks, least=3),
            listed("Source", [control.source] if control.source else []),
            prose("Status", "Not known: there is no result yet. Audit first, or name one with --result."),
        ),
    )


def _words(value: str) -> str:
    return value.replace("_", " ")
