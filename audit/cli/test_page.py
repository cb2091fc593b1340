"""What ``fleetaudit test`` shows on a terminal: what did not pass, and a table of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from audit.cli.safetext import safe
from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.testing.cases import Case, CaseOutcome, LineCoverage, SuiteKind, TestReport

_WORDS = {
    CaseOutcome.PASS: ("pass", "green"),
    CaseOutcome.FAIL: ("FAIL", "bold red"),
    CaseOutcome.ERROR: ("ERROR", "bold red"),
    CaseOutcome.NOT_EVALUATED: ("NOT EVALUATED", "bold yellow"),
    CaseOutcome.SKIPPED: ("skipped", "dim"),
}
_TITLES = {
    CaseOutcome.PASS: "pass",
    CaseOutcome.FAIL: "fail",
    CaseOutcome.ERROR: "error",
    CaseOutcome.NOT_EVALUATED: "not evaluated",
    CaseOutcome.SKIPPED: "skipped",
}
_WIDTH = 15
_ALIKE = 3
"""Cases with one and the same cause that are shown one by one."""
_CONSEQUENCES = frozenset(
    {"bad_suite", "no_cli", "not_run", "not_compiled", "policy_not_loaded", "policy_silent"}
)
"""Reasons of cases that an error keeps from being run, and that error is told by itself."""
_OUTPUT_LINES = 20
_SHOWN_RANGES = 8


def show(screen: Screen, report: TestReport, *, verbose: bool, slowest: int = 0) -> None:
    """Print the whole page.

    Args:
        screen: where to.
        report: what to tell.
        verbose: every case, passes included.
        slowest: so many cases that took longest.
    """
    _cases(screen, report.cases, verbose=verbose)
    if slowest:
        _slowest(screen, report.cases, slowest)
    if report.coverage:
        _coverage(screen, report.coverage)
    for note in report.notes:
        screen.line(("note", "yellow"), f"   {note}")
    if report.cases:
        screen.console().print(_table(report))
    screen.line(*_closing(report))


def _cases(screen: Screen, cases: Sequence[Case], *, verbose: bool) -> None:
    """Cases one by one; those with one cause are folded after some, unless each is wanted."""
    shown: Counter[_Cause] = Counter()
    folded: Counter[_Cause] = Counter()
    for case in cases:
        if not verbose and case.outcome is CaseOutcome.PASS:
            continue
        cause = _Cause(case.outcome, case.reason, case.message)
        if verbose or shown[cause] < cause.alike:
            shown[cause] += 1
            _case(screen, case, verbose=verbose)
        else:
            folded[cause] += 1
    for cause, number in folded.items():
        what = count(number, "more case" if shown[cause] else "case")
        screen.line(_word(cause.outcome), f"{what}: {cause.message}")


class _Cause(NamedTuple):
    outcome: CaseOutcome
    reason: str
    message: str

    @property
    def alike(self) -> int:
        """How many are shown; none where the error that is their cause is shown by itself."""
        follows = self.outcome is CaseOutcome.NOT_EVALUATED and self.reason in _CONSEQUENCES
        return 0 if follows else _ALIKE


def _word(outcome: CaseOutcome) -> tuple[str, str]:
    word, style = _WORDS[outcome]
    return word.ljust(_WIDTH), style


def _case(screen: Screen, case: Case, *, verbose: bool) -> None:
    seconds = f"  {case.seconds:.3f} s" if verbose and case.seconds is not None else ""
    screen.line(_word(case.outcome), f"{case.place or case.suite}  {case.name}{seconds}")
    if case.message:
        screen.line(" " * _WIDTH, case.message)
    if case.hint:
        screen.line(" " * _WIDTH, case.hint)
    if case.output and not (case.good and not verbose):
        lines = case.output.splitlines()
        for line in lines[:_OUTPUT_LINES]:
            screen.line(" " * _WIDTH, "| ", line)
        if len(lines) > _OUTPUT_LINES:
            screen.line(" " * _WIDTH, f"| and {count(len(lines) - _OUTPUT_LINES, 'line')} more")


def _slowest(screen: Screen, cases: Sequence[Case], number: int) -> None:
    timed = sorted((case for case in cases if case.seconds), key=lambda case: -(case.seconds or 0.0))
    for case in timed[:number]:
        screen.line(
            (f"{case.seconds:.3f} s".ljust(_WIDTH), "dim"), f"{case.place or case.suite}  {case.name}"
        )


def _coverage(screen: Screen, files: Sequence[LineCoverage]) -> None:
    covered = sum(len(file.covered) for file in files)
    total = covered + sum(len(file.missed) for file in files)
    for file in sorted(files, key=lambda file: (file.share, file.file)):
        if file.missed:
            missed = ", ".join(_ranges(file.missed))
            screen.line((f"{file.share:.1%}".ljust(_WIDTH), "yellow"), f"{file.file}  not reached: {missed}")
    whole = sum(1 for file in files if not file.missed)
    share = covered / total if total else 1.0
    screen.line(
        (f"{share:.1%}".ljust(_WIDTH), "bold"),
        f"{covered:,} of {total:,} lines of {count(len(files), 'file')} reached; {whole:,} of them wholly",
    )


def _ranges(lines: Sequence[int]) -> Iterator[str]:
    """``3-5, 9``, cut after some."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1][-1:] = [line] if len(runs[-1]) > 1 else [runs[-1][0], line]
        else:
            runs.append([line])
    for run in runs[:_SHOWN_RANGES]:
        yield "-".join(map(str, run))
    if len(runs) > _SHOWN_RANGES:
        yield f"and {len(runs) - _SHOWN_RANGES} more"


def _table(report: TestReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("suites")
    for title in ("files", "cases", *_TITLES.values()):
        table.add_column(title, justify="right")
    kinds = [kind for kind in SuiteKind if report.suites(kind)]
    for kind in kinds:
        table.add_row(kind.value, *_numbers(report, kind))
    if len(kinds) != 1:
        table.add_row("all", *_numbers(report, None))
    return table


def _numbers(report: TestReport, kind: SuiteKind | None) -> Iterator[Text]:
    counted = report.counts(kind)
    files = report.suites(kind) if kind else sum(report.suites(each) for each in SuiteKind)
    yield Text(f"{files:,}")
    yield Text(f"{sum(counted.values()):,}")
    for outcome in CaseOutcome:
        number = counted[outcome]
        yield Text(f"{number:,}", style=_WORDS[outcome][1] if number else "dim")


def _closing(report: TestReport) -> Iterator[str | tuple[str, str]]:
    engines = ", ".join(f"{name} {version}" for name, version in sorted(report.engines.items()))
    took = f" in {report.seconds:.1f} s" + (f", with {engines}" if engines else "")
    wrong = [case for case in report.cases if not case.good]
    if not report.cases:
        yield ("nothing found", "bold yellow")
        yield "  no kyverno-test.yaml, no Suite of test.gatekeeper.sh and no Rego test with a case that is asked for"
    elif wrong:
        yield ("not passed", "bold red")
        yield f"  {len(wrong):,} of {count(len(report.cases), 'case')}{took}"
    else:
        yield ("passed", "bold green")
        yield f"  {count(len(report.cases), 'case')}{took}"
    if report.stopped:
        yield "; stopped there, the rest was not run"


def listing(screen: Screen, cases: Sequence[Case]) -> None:
    """Print names, not verdicts."""
    for case in cases:
        if case.outcome is CaseOutcome.ERROR:
            _case(screen, case, verbose=False)
        else:
            screen.line((case.kind.value.ljust(_WIDTH), "dim"), safe(case.id))
    screen.line(count(sum(1 for case in cases if case.outcome is not CaseOutcome.ERROR), "case"))
