"""``findings.csv``: one row a finding, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO

from audit.model.finding import Finding, FindingGroup
from audit.model.result import AssessmentResult
from audit.report.one_file import OneFileWriter
from audit.report.rows import finding_id, findings
from audit.report.text import csv_cell, value

COLUMNS = (
    "group",
    "finding",
    "outcome",
    "severity",
    "rule",
    "cluster",
    "kind",
    "namespace",
    "name",
    "container",
    "path",
    "file",
    "line",
    "column",
    "document",
    "item",
    "seen",
    "expected",
    "message",
    "error",
    "waiver",
)
_ROWS = 500


class CsvWriter(OneFileWriter):
    """Writes ``findings.csv``: RFC 4180, UTF-8, a header, cells that begin like a formula get an apostrophe."""

    name = "csv"
    file_name = "findings.csv"

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.writelines(_chunks(result))


def _chunks(result: AssessmentResult) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for number, (group, finding) in enumerate(findings(result), 1):
        writer.writerow(csv_cell(cell) for cell in _row(group, finding))
        if number % _ROWS == 0:
            yield text.getvalue().encode("utf-8", "backslashreplace")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8", "backslashreplace")


def _row(group: FindingGroup, finding: Finding) -> Iterator[str]:
    subject, violation, place = finding.subject, finding.violation, finding.place
    yield group.id
    yield finding_id(group, finding)
    yield finding.outcome.value
    yield finding.severity.value
    yield finding.rule
    yield subject.cluster
    yield subject.kind_key
    yield subject.namespace
    yield subject.name
    yield violation.container
    yield violation.path_text
    yield place.file if place else subject.source
    yield str(place.line) if place and place.line is not None else ""
    yield str(place.column) if place and place.column is not None else ""
    yield str(subject.document or "")
    yield subject.item
    yield "" if violation.seen is None else value(violation.seen, 2000)
    yield "" if violation.expected is None else value(violation.expected, 2000)
    yield violation.message
    yield finding.error
    yield finding.waiver
