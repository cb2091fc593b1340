"""The report as JUnit XML: what was not evaluated is an error there, because JUnit has no third colour."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from audit.report.text import BLOCK_CAP, visible, visible_block
from audit.testing.cases import Case, CaseOutcome, TestReport, tally

_ERRORS = (CaseOutcome.ERROR, CaseOutcome.NOT_EVALUATED)


def as_junit(report: TestReport) -> Iterator[str]:
    """Lines of the file. A run without any case is one failing case, never an empty file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    counts = report.counts()
    yield (
        f'<testsuites name="fleetaudit test" tests="{max(1, len(report.cases))}" '
        f'failures="{counts[CaseOutcome.FAIL]}" errors="{_errors(counts) or int(not report.cases)}" '
        f'skipped="{counts[CaseOutcome.SKIPPED]}" time="{report.seconds:.3f}">\n'
    )
    if not report.cases:
        yield '<testsuite name="fleetaudit test" tests="1" failures="0" errors="1" skipped="0">\n'
        yield '<testcase classname="fleetaudit test" name="suites"><error message="no case was found" type="nothing_found"/></testcase>\n'
        yield "</testsuite>\n"
    for (kind, suite), cases in itertools.groupby(report.cases, key=lambda case: (case.kind, case.suite)):
        yield from _suite(f"{kind.value} {suite}", list(cases))
    yield "</testsuites>\n"


def _errors(counts: Mapping[CaseOutcome, int]) -> int:
    return sum(counts[outcome] for outcome in _ERRORS)


def _suite(name: str, cases: Sequence[Case]) -> Iterator[str]:
    counts = tally(cases)
    seconds = sum(case.seconds or 0.0 for case in cases)
    yield (
        f'<testsuite name={_attribute(name)} tests="{len(cases)}" failures="{counts[CaseOutcome.FAIL]}" '
        f'errors="{_errors(counts)}" skipped="{counts[CaseOutcome.SKIPPED]}" time="{seconds:.3f}">\n'
    )
    for case in cases:
        yield _case(case)
    yield "</testsuite>\n"


def _case(case: Case) -> str:
    place = f" file={_attribute(case.file)}" if case.file else ""
    place += f' line="{case.line}"' if case.file and case.line else ""
    time = f' time="{case.seconds:.3f}"' if case.seconds is not None else ""
    message = _attribute(case.message or case.reason)
    body = "\n".join(part for part in (case.place, case.message, case.hint) if part)
    text = escape(visible_block(body))
    if case.outcome is CaseOutcome.FAIL:
        verdict = f"<failure message={message} type={_attribute(case.reason)}>{text}</failure>"
    elif case.outcome in _ERRORS:
        kind = case.reason if case.outcome is CaseOutcome.ERROR else f"not_evaluated: {case.reason}"
        verdict = f"<error message={message} type={_attribute(kind)}>{text}</error>"
    elif case.outcome is CaseOutcome.SKIPPED:
        verdict = f"<skipped message={message}/>"
    else:
        verdict = ""
    if case.output:
        verdict += f"<system-out>{escape(visible_block(case.output))}</system-out>"
    return (
        f"<testcase classname={_attribute(case.suite)} name={_attribute(case.name)}{place}{time}>"
        f"{verdict}</testcase>\n"
    )


def _attribute(text: str) -> str:
    """Quoted and escaped; what XML 1.0 can't hold is shown as an escape."""
    return quoteattr(visible(text, BLOCK_CAP))
