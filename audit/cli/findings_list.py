"""Open findings as ``file:line: severity rule: message``, the form that editors and pipelines read."""

from __future__ import annotations

from collections.abc import Iterator

from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult

_STYLE = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}


def print_open_groups(screen: Screen, result: AssessmentResult) -> None:
    """One line for each open group, the worst first, then what was looked at."""
    for group in open_groups(result):
        member = next(member for member in group.members if not member.waiver)
        more = f" (and {group.total - group.waived - 1:,} more)" if group.total - group.waived > 1 else ""
        severity = group.severity.value
        screen.line(
            f"{_place(member)}: ",
            (severity, _STYLE[severity]),
            f" {group.rule}: {member.subject.title}: {member.violation.message}{more}",
        )
    proof = result.record.denominator
    opened = sum(result.group_source.counts().open.values())
    screen.line(
        f"{count(opened, 'open group')} in {count(proof.objects, 'object')} from {count(proof.files, 'file')}, "
        f"{count(proof.rules, 'rule')}, {count(proof.pairs_due, 'pair')}; {count(len(result.gaps), 'gap')}"
    )


def open_groups(result: AssessmentResult) -> Iterator[FindingGroup]:
    """Groups with at least one unwaived failure, in display order."""
    for group in result.group_source.groups():
        if group.outcome is Outcome.FAIL and group.waived < group.total:
            yield group


def _place(finding: Finding) -> str:
    # Nothing but file:line:column, so that editors find it; an approximate line is that of the object.
    place = finding.place
    if place is None:
        return finding.subject.source or finding.subject.cluster
    return ":".join(str(part) for part in (place.file, place.line, place.column) if part is not None)
