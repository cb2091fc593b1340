"""``report.md``: a comment for a pull request. Short, capped, and inert whatever the audited files say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from audit.model.finding import FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.report.files import MARKDOWN_MARK, atomic
from audit.report.json_writer import seal
from audit.report.numbers import count, ratio, share
from audit.report.text import markdown, markdown_code
from audit.report.texts import Texts
from audit.report.view import build_view
from audit.report.view_findings import place_text
from audit.report.view_next import StepView
from audit.report.view_ratio import held_back
from audit.report.view_words import gap_word, severity_word

SHOWN_GROUPS = 20
SHOWN_GAPS = 10
SIZE_LIMIT = 60_000
"""Characters: code hosts refuse comments of more than 65,536."""


class MarkdownWriter:
    """Writes ``report.md``."""

    name = "markdown"
    file_name = "report.md"

    def write(self, result: AssessmentResult, folder: Path) -> list[Path]:
        """Write the file atomically.

        Raises:
            ReportError: not writable.
        """
        path = folder / self.file_name
        with atomic(path) as stream:
            self.render_to(result, stream)
        return [path]

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        size = 0
        for line in _lines(seal(result), Texts()):
            size += len(line) + 1
            if size > SIZE_LIMIT:
                stream.write(b"\n(cut here: the rest is in the report)\n")
                return
            stream.write(line.encode("utf-8", "backslashreplace") + b"\n")


def _lines(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    view, _ = build_view(result, texts)
    yield MARKDOWN_MARK.decode()
    yield f"### {markdown(result.title)}: evidence report, not a certificate"
    yield ""
    yield f"**{markdown(view.verdict.line)}.** {markdown(view.verdict.text, 2000)}"
    yield ""
    for gate in result.gates or ():
        word = {True: "met", False: "**failed**", None: "**not decided**"}[gate.met]
        yield f"- Gate: {word}, {markdown(gate.condition)}: {markdown(gate.detail)}"
    if not result.gates:
        yield "- Gate: none asked for"
    if result.complete:
        yield "- Audit: complete"
    else:
        reasons = "; ".join(markdown(reason) for reason in result.incomplete_reasons[:5])
        yield f"- Audit: **incomplete**, {reasons}"
    yield f"- Open: {markdown(view.verdict.open_line)}"
    yield ""
    yield from _ratios(result, texts)
    yield from _groups(result, texts)
    yield from _gaps(result, texts)
    yield from _steps(view.steps)
    d = result.record.denominator
    yield (
        f"{count(d.objects)} objects from {count(d.files)} files, {count(d.rules)} rules, {count(d.pairs_due)} pairs; "
        f"{count(len(result.gaps))} gaps. Result sha256 {markdown_code(result.record.result_sha256)}"
    )


def _ratios(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    yield "| Framework | Strict ratio | Possible to | Coverage | Held back by |"
    yield "|---|---|---|---|---|"
    for score in result.scores:
        held = "".join(piece.text for piece in held_back(score, texts))
        yield (
            f"| {markdown(score.title)} | {ratio(score.strict, texts)} | {share(score.high)} "
            f"| {share(score.evidence_coverage)} | {markdown(held)} |"
        )
    yield ""


def _groups(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    total = sum(result.group_source.counts().open.values())
    if not total:
        yield "No open finding."
        yield ""
        return
    yield "| Severity | Group | Rule | Object | Where | Findings |"
    yield "|---|---|---|---|---|---|"
    shown = 0
    for group in islice(_open(result), SHOWN_GROUPS):
        shown += 1
        yield _group(group, texts)
    yield ""
    if total > shown:
        yield f"{count(total - shown)} more open groups are in the report."
        yield ""


def _open(result: AssessmentResult) -> Iterator[FindingGroup]:
    return (
        group
        for group in result.group_source.groups()
        if group.outcome is Outcome.FAIL and group.waived < group.total
    )


def _group(group: FindingGroup, texts: Texts) -> str:
    where = markdown_code(place_text(group.members[0], texts), 200) if group.members else ""
    inside = f", {markdown(group.container, 80)}" if group.container else ""
    return (
        f"| {severity_word(group.severity, texts)} | {markdown(group.id, 40)} | {markdown_code(group.rule, 100)} "
        f"| {markdown(group.owner, 160)}{inside} | {where} | {count(group.total)} |"
    )


def _gaps(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    if not result.gaps:
        yield "Not looked at: nothing was missed."
        yield ""
        return
    yield f"Not looked at ({count(len(result.gaps))}):"
    for gap in result.gaps[:SHOWN_GAPS]:
        line = f":{gap.line}" if gap.line else ""
        yield f"- {gap_word(gap.kind, texts)}: {markdown_code(f'{gap.source}{line}')}, {markdown(gap.reason)}"
    if len(result.gaps) > SHOWN_GAPS:
        yield f"- {count(len(result.gaps) - SHOWN_GAPS)} more"
    yield ""


def _steps(steps: tuple[StepView, ...]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        gains = ", ".join(
            f"{markdown(gain.framework)} {'' if gain.certain else 'up to '}{gain.share} ({gain.percent})"
            for gain in step.gains
        )
        yield f"{number}. {markdown(step.title)}: {gains}"
    if steps:
        yield ""
