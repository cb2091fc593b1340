"""The summary on the terminal: the lines a person needs, and where the rest is.

Colour is rich's business and appears on terminals only; every text of the audited world is neutralised first and
never read as markup. Gate and completeness are always two lines, whichever exit code wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.model.assessment import FrameworkScore
from audit.model.finding import FindingGroup, Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.report.numbers import count, percent_rounded, ratio, share
from audit.report.text import tail, visible
from audit.report.texts import Texts
from audit.report.view import open_line
from audit.report.view_findings import place_text
from audit.report.view_functions import classic
from audit.report.view_next import title as step_title
from audit.report.view_words import gap_word, severity_word

TERM = 10
"""Width of the first column."""
GROUP_INDENT = 16
"""Columns in front of a group's words: its severity, and the gaps between."""
SHOWN_GAPS = 5
SHOWN_GROUPS = 8
SHOWN_STEPS = 3
"""What fits on a screen; with `whole` everything is printed."""
MORE = "shown with --verbose and in the reports"
_GATE = {True: ("met", "green"), False: ("FAILED", "bold red"), None: ("NOT DECIDED", "bold yellow")}
_SEVERITY_STYLE = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "dim", "info": "dim"}


def render(
    result: AssessmentResult,
    console: Console,
    paths: Sequence[Path] = (),
    *,
    quiet: bool = False,
    whole: bool = False,
    exit_code: int | None = None,
) -> None:
    """Print the summary.

    Args:
        result: what to tell.
        console: where to; it decides about colour and width.
        paths: reports written, the first one is the one to open.
        quiet: gate and completeness only.
        whole: every gap, open group and step, not only the first of them.
        exit_code: printed behind the completeness line when not zero.
    """
    lines = _Lines(result, console, Texts(), whole=whole)
    if not quiet:
        lines.scope()
        lines.judged()
        lines.gaps()
        lines.groups()
        lines.ratios()
        lines.steps()
        lines.reports(paths)
    lines.gate()
    lines.audit(exit_code)


class _Lines:
    """One method for each kind of line."""

    def __init__(
        self, result: AssessmentResult, console: Console, texts: Texts, *, whole: bool = False
    ) -> None:
        self._result = result
        self._console = console
        self._texts = texts
        self._whole = whole

    def scope(self) -> None:
        """Members registered, reached, missing."""
        clusters = self._result.record.clusters
        reached = sum(1 for cluster in clusters if cluster.reached)
        missing = [visible(cluster.name, 80) for cluster in clusters if not cluster.reached]
        names = ", ".join(visible(cluster.name, 60) for cluster in clusters[:4])
        text = f"{count(len(clusters))} registered: {count(reached)} reached, {count(len(missing))} missing"
        if missing:
            text += f" ({', '.join(missing[:4])})"
        elif names:
            text += f" ({names}{', …' if len(clusters) > 4 else ''})"
        self._line("Scope", text)

    def judged(self) -> None:
        """The denominator, and what became of it."""
        d, tally = self._result.record.denominator, self._result.tally
        gaps = len(self._result.gaps)
        self._line(
            "Judged",
            f"{_n(d.objects, 'object')} from {_n(d.files, 'file')}, {_n(d.rules, 'rule')}, "
            f"{_n(d.pairs_due, 'pair')}; {_n(gaps, 'gap')}",
        )
        waived = tally.total(Outcome.FAIL, waived=True)
        self._line(
            "",
            f"pairs: {count(tally.total(Outcome.PASS))} pass + {count(tally.total(Outcome.FAIL))} fail ({count(waived)} waived)"
            f" + {count(tally.total(Outcome.WARN))} warn + {count(tally.total(Outcome.ERROR))} error"
            f" + {count(tally.total(Outcome.SKIP))} skip",
        )

    def gaps(self) -> None:
        """What was not looked at, and how to close it. Alike gaps share a line, unless each is wanted."""
        together: dict[object, list[Gap]] = defaultdict(list)
        for index, gap in enumerate(self._result.gaps):
            together[index if self._whole else (gap.kind, gap.hint, gap.allowed)].append(gap)
        undecided = {
            id(gap): sum(
                1 for row in self._result.controls if row.fleet.in_profile and index in row.fleet.gaps
            )
            for index, gap in enumerate(self._result.gaps[:200])
        }
        for found in islice(together.values(), self._most(SHOWN_GAPS)):
            first = found[0]
            place = tail(first.source, 72) + (f":{first.line}" if first.line else "")
            more = f" and {count(len(found) - 1)} more" if len(found) > 1 else ""
            text = f"{gap_word(first.kind, self._texts).lower()}: {place}{more}: {visible(first.reason, 160)}"
            controls = max((undecided.get(id(gap), 0) for gap in found), default=0)
            if controls:
                text += f"; {_n(controls, 'control')} undecided"
            if first.allowed:
                text += " (tolerated by allow_gaps)"
            self._line("GAP", text, "yellow")
            if first.hint:
                self._line("", f"fix: {visible(first.hint, 200)}")
        if len(together) > SHOWN_GAPS and not self._whole:
            rest = sum(len(found) for found in islice(together.values(), SHOWN_GAPS, None))
            self._line("GAP", f"{count(rest)} more, {MORE}", "yellow")

    def _most(self, shown: int) -> int | None:
        return None if self._whole else shown

    def groups(self) -> None:
        """Open groups by severity, the worst by name; all of them, and what could not be judged, when wanted."""
        counts = self._result.group_source.counts()
        total = sum(counts.open.values())
        # Groups, not pairs: the words say so, because the line above counts pairs.
        extra = [
            f"{_n(number, 'group')} {word}"
            for number, word in (
                (counts.waived, "waived"),
                (counts.errors, "that could not be judged"),
                (counts.warns, "of warnings"),
            )
            if number
        ]
        also = f"; also {', '.join(extra)}" if extra else ""
        self._line("Found", f"{_n(total, 'open group')}: {open_line(counts, self._texts)}{also}")
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for group in islice(self._open(), self._most(SHOWN_GROUPS)):
            table.add_row(*self._group(group))
        if table.row_count:
            self._console.print(table)
        if total > SHOWN_GROUPS and not self._whole:
            self._line("", f"{_n(total - SHOWN_GROUPS, 'more open group')}, {MORE}")

    def _group(self, group: FindingGroup) -> tuple[Text, Text, Text]:
        word, style = severity_word(group.severity, self._texts), _SEVERITY_STYLE[group.severity.value]
        if group.outcome is Outcome.ERROR:
            word, style = "error", "yellow"
        ident = visible(group.id, 20)
        told = Text(visible(group.rule, 60))
        if owner := " ".join(
            part for part in (visible(group.owner, 80), visible(group.container, 40)) if part
        ):
            told.append(f"  {owner}", style="bold")
        if group.members:
            more = f" and {count(group.total - 1)} more" if group.total > 1 else ""
            # The place stays on one line, so that a terminal makes a link of it.
            room = max(20, self._console.width - GROUP_INDENT - len(ident) - len(more))
            place = tail(place_text(group.members[0], self._texts), room)
            told.append(f"\n{place}{more}", style="dim")
        return Text(f"  {word}", style=style), Text(ident), told

    def _open(self) -> Iterator[FindingGroup]:
        """Groups with an unwaived failure; with `whole` those that could not be judged too."""
        for group in self._result.group_source.groups():
            failed = group.outcome is Outcome.FAIL and group.waived < group.total
            if failed or (self._whole and group.outcome is Outcome.ERROR):
                yield group

    def ratios(self) -> None:
        """Each framework's strict ratio, its range, what holds it back, and its parts."""
        for score in self._result.scores:
            name = f"{visible(score.title, 60)}, {score.profile.value}"
            if not score.strict.denominator:
                self._line("Ratio", f"{name}: not stated (0/0)", "bold")
            else:
                self._line(
                    "Ratio",
                    f"{name}: {ratio(score.strict, self._texts)}, range to {score.high.percent_truncated} % "
                    f"({share(score.high)}), coverage {share(score.evidence_coverage)}",
                    "bold",
                )
            held = score.held_back
            self._line(
                "",
                f"held back by {held.failing} failing, {held.waived} waived, "
                f"{held.statement_open + held.statement_expired} statement, {held.no_evidence} no evidence, "
                f"{held.no_check} no check built",
            )
            self._console.print(self._functions(score))

    def _functions(self, score: FrameworkScore) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
        for heading in ("part", "satisfied", "fail", "waived", "unknown", "n/a", "scanned", "comply"):
            table.add_column(
                heading if heading != "part" else "  ",
                justify="left" if heading == "part" else "right",
                no_wrap=True,
            )
        for row in score.functions:
            table.add_row(
                Text(f"  {visible(row.function, 20)}"),
                ratio(row.strict, self._texts),
                str(row.failed),
                str(row.waived),
                str(row.indeterminate),
                str(row.not_applicable),
                str(row.scanned),
                f"{row.complies} ({percent_rounded(row.classic, self._texts)})" if row.scanned else "0",
            )
        total = classic(score)
        table.add_row(
            Text("  All"),
            ratio(score.strict, self._texts),
            str(score.failed),
            str(score.waived),
            str(score.indeterminate),
            str(score.not_applicable),
            str(total.denominator),
            f"{total.numerator} ({percent_rounded(total, self._texts)})" if total.denominator else "0",
            style="bold",
        )
        return table

    def steps(self) -> None:
        """The cheapest steps and the ratio each would give."""
        word = "Next"
        each = self._most(1)
        steps = [(score, step) for score in self._result.scores for step in score.next_steps[:each]]
        for score, step in steps[: self._most(SHOWN_STEPS)]:
            upto = "" if step.certain else "up to "
            self._line(
                word,
                f"{step_title(self._result, step, self._texts)}: {visible(score.title, 60)} "
                f"{upto}{ratio(step.gives, self._texts)}",
            )
            word = ""
        first = next(self._open(), None)
        if first is not None:
            self._line(word, f"fleetaudit explain {visible(first.id, 20)}")

    def reports(self, paths: Sequence[Path]) -> None:
        """Where everything is."""
        for number, path in enumerate(paths):
            self._line("" if number else "Report", visible(str(path)))

    def gate(self) -> None:
        """One line for each gate; a line even when there is none."""
        if not self._result.gates:
            self._line("Gate", "none asked for")
        for gate in self._result.gates:
            word, style = _GATE[gate.met]
            self._line(
                "Gate", f"{word:<12} {visible(gate.condition, 120)}: {visible(gate.detail, 200)}", style
            )

    def audit(self, exit_code: int | None) -> None:
        """Complete or not, and why not."""
        ending = f"  (exit {exit_code})" if exit_code else ""
        if self._result.complete:
            self._line("Audit", f"complete{ending}", "green")
        else:
            reasons = "; ".join(visible(reason, 200) for reason in self._result.incomplete_reasons)
            self._line("Audit", f"INCOMPLETE  {reasons}{ending}", "bold yellow")

    def _line(self, term: str, text: str, style: str = "") -> None:
        row = Table.grid(padding=0)
        row.add_column(width=TERM, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(Text(term, style=style or "bold"), Text(text, style=style))
        self._console.print(row)


def _n(number: int, word: str) -> str:
    return f"{count(number)} {word}" if number == 1 else f"{count(number)} {word}s"
