"""``report.junit.xml``: one suite a group, one case a finding, and a suite that says whether the audit is complete.

Failures fail, errors err, waived findings are skipped with their waiver, warnings pass with their text. A suite named
``audit`` is always there, so that a run without findings, or without evidence, is never an empty file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.report.one_file import OneFileWriter
from audit.report.text import value, visible
from audit.report.texts import Texts
from audit.report.view_findings import place_text, within
from audit.report.view_verdict import gate_detail, incomplete_text
from audit.report.view_words import gap_word


class JunitWriter(OneFileWriter):
    """Writes ``report.junit.xml``."""

    name = "junit"
    file_name = "report.junit.xml"

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.writelines(line.encode("utf-8", "backslashreplace") for line in _lines(result, Texts()))


def _lines(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute(result.title)}>\n"
    yield from _audit_suite(result, texts)
    for group in result.group_source.groups():
        yield from _group_suite(group, texts)
    yield "</testsuites>\n"


def _audit_suite(result: AssessmentResult, texts: Texts) -> Iterator[str]:
    """Completeness, gates and gaps as cases."""
    failures = sum(1 for gate in result.gates if gate.met is False) + (not result.complete)
    undecided = sum(1 for gate in result.gates if gate.met is None)
    open_gaps = [gap for gap in result.gaps if not gap.allowed]
    allowed = len(result.gaps) - len(open_gaps)
    tests = 1 + len(result.gates) + len(result.gaps)
    yield (
        f'<testsuite name="audit" tests="{tests}" failures="{failures}" errors="{len(open_gaps) + undecided}" skipped="{allowed}">\n'
    )
    told = "; ".join(incomplete_text(reason, texts) for reason in result.incomplete_reasons)
    verdict = "" if result.complete else f"<failure message={_attribute(told or 'incomplete')}/>"
    yield f'<testcase classname="audit" name="complete">{verdict}</testcase>\n'
    for gate in result.gates:
        tag = "error" if gate.met is None else "failure"
        verdict = "" if gate.met else f"<{tag} message={_attribute(gate_detail(gate, texts))}/>"
        yield f'<testcase classname="audit.gate" name={_attribute(gate.condition)}>{verdict}</testcase>\n'
    for gap in result.gaps:
        tag = "skipped" if gap.allowed else "error"
        name = f"{gap_word(gap.kind, texts)}: {gap.source}"
        yield (
            f'<testcase classname="audit.gap" name={_attribute(name)}><{tag} message={_attribute(gap.reason)}/></testcase>\n'
        )
    yield "</testsuite>\n"


def _group_suite(group: FindingGroup, texts: Texts) -> Iterator[str]:
    waived = sum(1 for finding in group.members if finding.waiver)
    failed = group.outcome is Outcome.FAIL
    errors = len(group.members) if group.outcome is Outcome.ERROR else 0
    name = " ".join(part for part in (group.id, group.rule, group.owner, group.container) if part)
    yield (
        f'<testsuite name={_attribute(name)} tests="{len(group.members)}" '
        f'failures="{len(group.members) - waived if failed else 0}" errors="{errors}" skipped="{waived if failed else 0}">\n'
    )
    for finding in group.members:
        yield _case(finding, texts)
    yield "</testsuite>\n"


def _case(finding: Finding, texts: Texts) -> str:
    violation = finding.violation
    where = place_text(finding, texts)
    name = " ".join(
        part
        for part in (
            finding.subject.cluster,
            finding.subject.title,
            violation.container,
            violation.path_text,
        )
        if part
    )
    message = _attribute(visible(violation.message) or visible(finding.error) or visible(finding.rule))
    inside = within(finding.subject, texts, first_too=True)
    detail = [f"{where}, {inside}" if inside else where]
    if violation.seen is not None:
        detail.append(f"seen: {value(violation.seen)}")
    if violation.expected is not None:
        detail.append(f"expected: {value(violation.expected)}")
    body = escape("\n".join(detail))
    if finding.outcome is Outcome.WARN:
        verdict = f"<system-out>{escape(visible(violation.message))}\n{body}</system-out>"
    elif finding.outcome is Outcome.ERROR:
        verdict = f"<error message={message} type={_attribute(finding.error or 'error')}>{body}</error>"
    elif finding.waiver:
        verdict = f"<skipped message={_attribute(f'waived by {finding.waiver}')}/>"
    else:
        verdict = f'<failure message={message} type="{finding.severity.value}">{body}</failure>'
    return f"<testcase classname={_attribute(finding.rule)} name={_attribute(name)}>{verdict}</testcase>\n"


def _attribute(text: str) -> str:
    """Quoted and escaped; what XML 1.0 can't hold is shown as an escape."""
    return quoteattr(visible(text))
