"""Finds and loads the result of an earlier run."""

from __future__ import annotations

from pathlib import Path

from audit.config.schema import Config
from audit.errors import UsageError
from audit.model.result import AssessmentResult
from audit.report.files import JSON_MARK, is_marked

REPORT_NAME = "report.json"


def load_result(path: Path) -> AssessmentResult:
    """Read a JSON report. A folder means the report in it.

    Raises:
        UsageError: there is none, or it cannot be read.
        AuditError: it is no report of ours.
    """
    from audit.report.json_writer import load_report

    if path.is_dir():
        path = path / REPORT_NAME
    if not path.is_file():
        raise UsageError(
            "there is no such result",
            file=str(path),
            suggestion="audit with --format json first, or name a JSON report",
        )
    return load_report(path)


def result_path(named: str | None, config: Config) -> Path:
    """The report to read: the one named, else that of the configured folder, else the newest below here.

    Nothing is remembered outside the output folder, so a run with ``--output out`` is found by looking.
    """
    if named is not None:
        path = Path(named)
        return path / REPORT_NAME if path.is_dir() else path
    configured = Path(config.output.folder) / REPORT_NAME
    if configured.is_file():
        return configured
    ours = [path for path in Path().glob(f"*/{REPORT_NAME}") if is_marked(path, JSON_MARK)]
    return max(ours, key=lambda path: path.stat().st_mtime, default=configured)


def last_result(named: str | None, config: Config) -> tuple[Path, AssessmentResult] | None:
    """The result to look things up in, or None when none is named and none is there."""
    path = result_path(named, config)
    return (path, load_result(path)) if named is not None or path.is_file() else None
