"""The report formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit.ports import ReportWriter


def writers(names: Sequence[str], lang: str) -> list[ReportWriter]:
    """The report writers of these formats, in the order given.

    Raises:
        KeyError: an unknown format.
    """
    from audit.report.csv_writer import CsvWriter
    from audit.report.html import HtmlWriter
    from audit.report.json_writer import JsonWriter
    from audit.report.junit import JunitWriter
    from audit.report.markdown import MarkdownWriter
    from audit.report.metrics import MetricsWriter
    from audit.report.policy_reports import OpenReportsWriter, PolicyReportWriter
    from audit.report.sarif import SarifWriter

    known: dict[str, Any] = {
        "html": lambda: HtmlWriter(language=lang),
        "json": JsonWriter,
        "sarif": SarifWriter,
        "junit": JunitWriter,
        "markdown": lambda: MarkdownWriter(language=lang),
        "csv": CsvWriter,
        "prometheus": MetricsWriter,
        "policy-reports": PolicyReportWriter,
        "openreports": OpenReportsWriter,
    }
    return [known[name]() for name in names]
