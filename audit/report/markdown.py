"""``report.md``: a comment for a pull request. Short, capped, and inert whatever the audited files say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from audit.model.finding import FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.report.files import MARKDOWN_MARK
from audit.report.json_writer import seal
from audit.report.nouns import counted, objects_looked_at
from audit.report.numbers import count, ratio, share
from audit.report.one_file import OneFileWriter
from audit.report.text import markdown, markdown_code
from audit.report.texts import Texts
from audit.report.view import build_view
from audit.report.view_findings import place_text, within
from audit.report.view_next import StepView
from audit.report.view_ratio import held_back
from audit.report.view_unseen import not_vouched
from audit.report.view_verdict import incomplete_text
from audit.report.view_words import gap_word, severity_word

SHOWN_GROUPS = 20
SHOWN_GAPS = 10
SIZE_LIMIT = 60_000
"""Characters: code hosts refuse comments of more than 65,536."""


class MarkdownWriter(OneFileWriter):
    """Writes ``report.md``.

    Args:
        language: ``en`` or ``zh-CN``.

    Raises:
        UsageError: no texts in that language.
    """

    name = "markdown"
    file_name = "report.md"

    def __init__(self, language: str = "en") -> None:
        self._texts = Texts(language)

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        size = 0
        for line in _lines(seal(result), self._texts):
            size += len(line) + 1
            if size > SIZE_LIMIT:
                cut = self._texts.gettext("(cut here: the rest is in the report)")
                stream.write(f"\n{cut}\n".encode())
                return
            stream.write(line.encode("utf-8", "backslashreplace") + b"\n")


def _lines(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    view, _ = build_view(result, texts)
    yield MARKDOWN_MARK.decode()
    yield f"### {markdown(result.title)}: {texts.gettext('Evidence report, not a certificate')}"
    yield ""
    yield f"**{markdown(view.verdict.line)}.** {markdown(view.verdict.text, 2000)}"
    yield ""
    gate, audit = texts.gettext("Gate"), texts.gettext("Audit")
    for item in view.verdict.gates:
        word = item.word if item.code == "S" else f"**{item.word}**"
        yield f"- {gate}: {word}, {markdown(item.condition)}: {markdown(item.detail)}"
    if not view.verdict.gates:
        yield f"- {gate}: {texts.gettext('none asked for')}"
    if result.complete:
        yield f"- {audit}: {texts.gettext('complete')}"
    else:
        reasons = "; ".join(
            markdown(incomplete_text(reason, texts)) for reason in result.incomplete_reasons[:5]
        )
        yield f"- {audit}: **{texts.gettext('incomplete')}**, {reasons}"
    yield f"- {texts.gettext('Open')}: {markdown(view.verdict.open_line)}"
    yield ""
    yield from _ratios(result, texts)
    yield from _groups(result, texts)
    yield from _gaps(result, texts)
    yield from _steps(view.steps, texts)
    d = result.record.denominator
    looked = texts.gettext("{objects} from {files}, {rules}, {pairs}; {gaps}").format(
        objects=objects_looked_at(d, texts),
        files=counted(d.files, "file", texts),
        rules=counted(d.rules, "rule", texts),
        pairs=counted(d.pairs_due, "pair", texts),
        gaps=counted(len(result.gaps), "gap", texts),
    )
    if told := not_vouched(result, texts):
        looked += f"; {told}"
    digest = markdown_code(result.record.result_sha256)
    yield f"{looked}. {texts.gettext('Result sha256 {digest}').format(digest=digest)}"


def _ratios(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    yield _row(
        texts.gettext("Framework"),
        texts.gettext("Strict ratio"),
        texts.gettext("Possible to"),
        texts.gettext("Coverage"),
        texts.gettext("Held back by"),
    )
    yield "|---|---|---|---|---|"
    for score in result.scores:
        held = "".join(piece.text for piece in held_back(score, texts))
        yield _row(
            markdown(score.title),
            ratio(score.strict, texts),
            share(score.high),
            share(score.evidence_coverage),
            markdown(held),
        )
    yield ""


def _groups(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    total = sum(result.group_source.counts().open.values())
    if not total:
        yield texts.gettext("No open finding.")
        yield ""
        return
    yield _row(
        texts.gettext("Severity"),
        texts.gettext("Group"),
        texts.gettext("Rule"),
        texts.gettext("Owner object"),
        texts.gettext("Where"),
        texts.gettext("Findings"),
    )
    yield "|---|---|---|---|---|---|"
    shown = 0
    for group in islice(_open(result), SHOWN_GROUPS):
        shown += 1
        yield _group(group, texts)
    yield ""
    if total > shown:
        more = counted(total - shown, "more open group", texts)
        yield texts.gettext("{groups} in the report.").format(groups=more)
        yield ""


def _open(result: AssessmentResult) -> Iterator[FindingGroup]:
    return (
        group
        for group in result.group_source.groups()
        if group.outcome is Outcome.FAIL and group.waived < group.total
    )


def _group(group: FindingGroup, texts: Texts) -> str:
    where = markdown_code(place_text(group.members[0], texts), 200) if group.members else ""
    if group.members and (place := within(group.members[0].subject, texts)):
        where += f", {markdown(place)}"
    inside = f", {markdown(group.container, 80)}" if group.container else ""
    return _row(
        severity_word(group.severity, texts),
        markdown(group.id, 40),
        markdown_code(group.rule, 100),
        f"{markdown(group.owner, 160)}{inside}",
        where,
        count(group.total),
    )


def _gaps(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    title = texts.gettext("Not looked at")
    if not result.gaps:
        yield f"{title}: {texts.gettext('no gap.')}"
        yield ""
        return
    yield f"{title} ({count(len(result.gaps))}):"
    for gap in result.gaps[:SHOWN_GAPS]:
        line = f":{gap.line}" if gap.line else ""
        yield f"- {gap_word(gap.kind, texts)}: {markdown_code(f'{gap.source}{line}')}, {markdown(gap.reason)}"
    if len(result.gaps) > SHOWN_GAPS:
        yield f"- {texts.gettext('{n} more').format(n=count(len(result.gaps) - SHOWN_GAPS))}"
    yield ""


def _steps(steps: tuple[StepView, ...], texts: Texts) -> Iterator[str]:
    upto = texts.gettext("up to")
    for number, step in enumerate(steps, 1):
        gains = ", ".join(
            f"{markdown(gain.framework)} {'' if gain.certain else f'{upto} '}{gain.share} ({gain.percent})"
            for gain in step.gains
        )
        yield f"{number}. {markdown(step.title)}: {gains}"
    if steps:
        yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
