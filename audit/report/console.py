"""The summary on the terminal: the lines a person needs, and where the rest is.

Colour is rich's business and appears on terminals only; every text of the audited world is neutralised first and
never read as markup. Gate and completeness are always two lines, whichever exit code wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.model.assessment import FrameworkScore
from audit.model.finding import FindingGroup, Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.report.nouns import counted, objects_looked_at
from audit.report.numbers import count, percent_rounded, ratio, share
from audit.report.text import tail, visible
from audit.report.texts import Texts
from audit.report.view import open_line
from audit.report.view_findings import place_text
from audit.report.view_functions import classic
from audit.report.view_next import title as step_title
from audit.report.view_parts import Anchors
from audit.report.view_quality import quality
from audit.report.view_unseen import not_vouched
from audit.report.view_verdict import gate_detail, incomplete_text
from audit.report.view_words import gap_word, gate_word, profile_word, severity_word

TERM = 10
"""Width of the first column."""
GROUP_INDENT = 16
"""Columns in front of a group's words: its severity, and the gaps between."""
SHOWN_GAPS = 5
SHOWN_GROUPS = 8
SHOWN_STEPS = 3
"""What fits on a screen; with `whole` everything is printed."""
_GATE_STYLE = {True: "green", False: "bold red", None: "bold yellow"}
_SEVERITY_STYLE = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "dim", "info": "dim"}


def render(
    result: AssessmentResult,
    console: Console,
    paths: Sequence[Path] = (),
    *,
    language: str = "en",
    quiet: bool = False,
    whole: bool = False,
    exit_code: int | None = None,
) -> None:
    """Print the summary.

    Args:
        result: what to tell.
        console: where to; it decides about colour and width.
        paths: reports written, the first one is the one to open.
        language: ``en`` or ``zh-CN``.
        quiet: gate and completeness only.
        whole: every gap, open group and step, not only the first of them.
        exit_code: printed behind the completeness line when not zero.
    """
    lines = _Lines(result, console, Texts(language), whole=whole)
    if not quiet:
        lines.scope()
        lines.judged()
        lines.signed()
        lines.rules()
        lines.gaps()
        lines.groups()
        lines.ratios()
        lines.steps()
        lines.reports(paths)
    lines.gate()
    lines.audit(exit_code)


class _Lines:
    """One method for each kind of line."""

    def __init__(self, result: AssessmentResult, console: Console, texts: Texts, *, whole: bool) -> None:
        self._result = result
        self._console = console
        self._texts = texts
        self._whole = whole

    def scope(self) -> None:
        """Members registered, reached, missing."""
        clusters = self._result.record.clusters
        reached = sum(1 for cluster in clusters if cluster.reached)
        missing = [visible(cluster.name, 80) for cluster in clusters if not cluster.reached]
        text = self._texts.gettext("{n} registered: {reached} reached, {missing} missing").format(
            n=count(len(clusters)), reached=count(reached), missing=count(len(missing))
        )
        named = missing or [visible(cluster.name, 60) for cluster in clusters]
        if named:
            text += f" ({', '.join(named[:4])}{', …' if len(named) > 4 else ''})"
        self._line(self._texts.gettext("Scope"), text)

    def judged(self) -> None:
        """The denominator, and what became of it."""
        d, tally, texts = self._result.record.denominator, self._result.tally, self._texts
        self._line(
            texts.gettext("Judged"),
            texts.gettext("{objects} from {files}, {rules}, {pairs}; {gaps}").format(
                objects=objects_looked_at(d, texts),
                files=self._n(d.files, "file"),
                rules=self._n(d.rules, "rule"),
                pairs=self._n(d.pairs_due, "pair"),
                gaps=self._n(len(self._result.gaps), "gap"),
            ),
        )
        outcomes = texts.gettext(
            "{passed} pass + {failed} fail ({waived} waived) + {warned} warn + {errors} error + {skipped} skip"
        ).format(
            passed=count(tally.total(Outcome.PASS)),
            failed=count(tally.total(Outcome.FAIL)),
            waived=count(tally.total(Outcome.FAIL, waived=True)),
            warned=count(tally.total(Outcome.WARN)),
            errors=count(tally.total(Outcome.ERROR)),
            skipped=count(tally.total(Outcome.SKIP)),
        )
        self._line("", texts.gettext("pairs: {outcomes}").format(outcomes=outcomes))

    def signed(self) -> None:
        """Which rules nobody vouches for, where signatures were asked for."""
        if told := not_vouched(self._result, self._texts):
            self._line(self._texts.gettext("Signed"), told, style="bold yellow")

    def rules(self) -> None:
        """What the rules were good for, and what they lack: only when everything is wanted."""
        if not self._whole:
            return
        term = self._texts.gettext("Rules")
        for line in quality(self._result, Anchors((), ()), self._texts):
            self._line(term, line.text)
            term = ""

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
        word = self._texts.gettext("GAP")
        for found in islice(together.values(), self._most(SHOWN_GAPS)):
            controls = max((undecided.get(id(gap), 0) for gap in found), default=0)
            self._line(word, self._gap(found, controls), "yellow")
            if found[0].hint:
                hint = visible(found[0].hint, 200)
                self._line("", self._texts.gettext("fix: {hint}").format(hint=hint))
        if len(together) > SHOWN_GAPS and not self._whole:
            rest = sum(len(found) for found in islice(together.values(), SHOWN_GAPS, None))
            self._line(
                word, self._texts.gettext("{n} more").format(n=count(rest)) + self._elsewhere(), "yellow"
            )

    def _gap(self, found: list[Gap], controls: int) -> str:
        first, texts = found[0], self._texts
        text = f"{gap_word(first.kind, texts).lower()}: {tail(first.source, 72)}"
        text += f":{first.line}" if first.line else ""
        if len(found) > 1:
            text += " " + texts.gettext("and {n} more").format(n=count(len(found) - 1))
        text += f": {visible(first.reason, 160)}"
        if controls:
            text += texts.gettext("; {controls} undecided").format(controls=self._n(controls, "control"))
        if first.allowed:
            text += texts.gettext(" (tolerated by allow_gaps)")
        return text

    def groups(self) -> None:
        """Open groups by severity, the worst by name; all of them, and what could not be judged, when wanted."""
        counts, texts = self._result.group_source.counts(), self._texts
        total = sum(counts.open.values())
        # Groups, not pairs: the words say so, because the line above counts pairs.
        also = [
            form.format(groups=self._n(number, "group"))
            for number, form in (
                (counts.waived, texts.gettext("{groups} waived")),
                (counts.errors, texts.gettext("{groups} that could not be judged")),
                (counts.warns, texts.gettext("{groups} of warnings")),
            )
            if number
        ]
        text = f"{self._n(total, 'open group')}: {open_line(counts, texts)}"
        text += texts.gettext("; also {groups}").format(groups=", ".join(also)) if also else ""
        self._line(texts.gettext("Found"), text)
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for group in islice(self._open(), self._most(SHOWN_GROUPS)):
            table.add_row(*self._group(group))
        if table.row_count:
            self._console.print(table)
        if total > SHOWN_GROUPS and not self._whole:
            self._line("", self._n(total - SHOWN_GROUPS, "more open group") + self._elsewhere())

    def _group(self, group: FindingGroup) -> tuple[Text, Text, Text]:
        word, style = severity_word(group.severity, self._texts), _SEVERITY_STYLE[group.severity.value]
        if group.outcome is Outcome.ERROR:
            word, style = self._texts.gettext("error"), "yellow"
        ident = visible(group.id, 20)
        told = Text(visible(group.rule, 60))
        owner = " ".join(part for part in (visible(group.owner, 80), visible(group.container, 40)) if part)
        if owner:
            told.append(f"  {owner}", style="bold")
        if group.members:
            more = ""
            if group.total > 1:
                more = " " + self._texts.gettext("and {n} more").format(n=count(group.total - 1))
            # The place stays on one line, so that a terminal makes a link of it.
            room = max(20, self._console.width - GROUP_INDENT - len(ident) - cell_len(more))
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
        texts = self._texts
        for score in self._result.scores:
            name = f"{visible(score.title, 60)}, {profile_word(score.profile, texts)}"
            if score.strict.denominator:
                text = texts.gettext(
                    "{name}: {strict}, range to {high} % ({high_share}), coverage {coverage}"
                ).format(
                    name=name,
                    strict=ratio(score.strict, texts),
                    high=score.high.percent_truncated,
                    high_share=share(score.high),
                    coverage=share(score.evidence_coverage),
                )
            else:
                text = texts.gettext("{name}: not stated (0/0)").format(name=name)
            self._line(texts.gettext("Ratio"), text, "bold")
            held = score.held_back
            parts = texts.gettext(
                "held back by {failing} failing, {waived} waived, {statements} statement, {unseen} no evidence, {unbuilt} no check built"
            ).format(
                failing=held.failing,
                waived=held.waived,
                statements=held.statement_open + held.statement_expired,
                unseen=held.no_evidence,
                unbuilt=held.no_check,
            )
            self._line("", parts)
            self._console.print(self._functions(score))

    def _functions(self, score: FrameworkScore) -> Table:
        texts = self._texts
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
        table.add_column("  ", no_wrap=True)
        for heading in (
            texts.gettext("satisfied"),
            texts.gettext("fail"),
            texts.gettext("waived"),
            texts.gettext("unknown"),
            texts.gettext("n/a"),
            texts.gettext("scanned"),
            texts.gettext("comply"),
        ):
            table.add_column(heading, justify="right", no_wrap=True)
        for row in score.functions:
            table.add_row(
                Text(f"  {visible(row.function, 20)}"),
                ratio(row.strict, texts),
                str(row.failed),
                str(row.waived),
                str(row.indeterminate),
                str(row.not_applicable),
                str(row.scanned),
                f"{row.complies} ({percent_rounded(row.classic, texts)})" if row.scanned else "0",
            )
        total = classic(score)
        table.add_row(
            Text(f"  {texts.gettext('All')}"),
            ratio(score.strict, texts),
            str(score.failed),
            str(score.waived),
            str(score.indeterminate),
            str(score.not_applicable),
            str(total.denominator),
            f"{total.numerator} ({percent_rounded(total, texts)})" if total.denominator else "0",
            style="bold",
        )
        return table

    def steps(self) -> None:
        """The cheapest steps and the ratio each would give."""
        texts = self._texts
        word = texts.gettext("Next")
        each = self._most(1)
        steps = [(score, step) for score in self._result.scores for step in score.next_steps[:each]]
        for score, step in steps[: self._most(SHOWN_STEPS)]:
            upto = "" if step.certain else texts.gettext("up to") + " "
            self._line(
                word,
                f"{step_title(self._result, step, texts)}: {visible(score.title, 60)} "
                f"{upto}{ratio(step.gives, texts)}",
            )
            word = ""
        first = next(self._open(), None)
        if first is not None:
            self._line(word, f"fleetaudit explain {visible(first.id, 20)}")

    def reports(self, paths: Sequence[Path]) -> None:
        """Where everything is."""
        for number, path in enumerate(paths):
            self._line("" if number else self._texts.gettext("Report"), visible(str(path)))

    def gate(self) -> None:
        """One line for each gate; a line even when there is none."""
        term = self._texts.gettext("Gate")
        if not self._result.gates:
            self._line(term, self._texts.gettext("none asked for"))
        for gate in self._result.gates:
            word = gate_word(gate.met, self._texts)[1]
            word = word if gate.met else word.upper()
            padded = word + " " * (13 - cell_len(word))
            self._line(
                term,
                f"{padded}{visible(gate.condition, 120)}: {gate_detail(gate, self._texts)}",
                _GATE_STYLE[gate.met],
            )

    def audit(self, exit_code: int | None) -> None:
        """Complete or not, and why not."""
        texts = self._texts
        ending = "  " + texts.gettext("(exit {code})").format(code=exit_code) if exit_code else ""
        if self._result.complete:
            self._line(texts.gettext("Audit"), f"{texts.gettext('complete')}{ending}", "green")
        else:
            reasons = "; ".join(incomplete_text(reason, texts) for reason in self._result.incomplete_reasons)
            word = texts.gettext("incomplete").upper()
            self._line(texts.gettext("Audit"), f"{word}  {reasons}{ending}", "bold yellow")

    def _n(self, number: int, noun: str) -> str:
        return counted(number, noun, self._texts)

    def _most(self, shown: int) -> int | None:
        return None if self._whole else shown

    def _elsewhere(self) -> str:
        return self._texts.gettext(", shown with --verbose and in the reports")

    def _line(self, term: str, text: str, style: str = "") -> None:
        row = Table.grid(padding=0)
        row.add_column(width=TERM, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(Text(term, style=style or "bold"), Text(text, style=style))
        self._console.print(row)
