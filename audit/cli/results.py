"""Finds and loads the result of an earlier run."""

from __future__ import annotations

from pathlib import Path

from audit.config.schema import Config
from audit.errors import UsageError
from audit.model.result import AssessmentResult

REPORT_NAME = "report.json"


def load_result(path: Path) -> AssessmentResult:
    """Read a JSON report. A folder means the report in it.

    Raises:
        UsageError: there is none, or it cannot be read.
        AuditError: it is no report of ours.
    """
    from audit.report.json_document import load_report

    if path.is_dir():
        path = path / REPORT_NAME
    if not path.is_file():
        raise UsageError(
            "there is no such result",
            file=str(path),
            suggestion="audit with --format json first, or name a JSON report",
        )
    try:
        return load_report(path)
    except OSError as error:
        raise UsageError(f"the result cannot be read: {error.strerror or error}", file=str(path)) from None


def result_path(named: str | None, config: Config) -> Path:
    """The report to read: the one named, else that of the configured output folder."""
    if named is None:
        return Path(config.output.folder) / REPORT_NAME
    path = Path(named)
    return path / REPORT_NAME if path.is_dir() else path


def last_result(named: str | None, config: Config) -> AssessmentResult | None:
    """The result to look things up in, or None when none is named and none is there."""
    path = result_path(named, config)
    return load_result(path) if named is not None or path.is_file() else None
