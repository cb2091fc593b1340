"""The report as JSON, for other programs."""

from __future__ import annotations

import itertools
from typing import Any

from audit.testing.cases import Case, CaseOutcome, SuiteKind, TestReport

FORMAT = "fleetaudit.dev/test/v1"
"""Raised with every change that a reader would misread."""


def as_json(report: TestReport, exit_code: int) -> dict[str, Any]:
    """Plain data. Cases stand under their suites, in the order in which they ran."""
    return {
        "format": FORMAT,
        "exit_code": exit_code,
        "stopped": report.stopped,
        "seconds": round(report.seconds, 3),
        "engines": dict(report.engines),
        "totals": {"cases": len(report.cases), **_counts(report, None)},
        "kinds": {
            kind.value: {
                "suites": report.suites(kind),
                "cases": sum(report.counts(kind).values()),
                **_counts(report, kind),
            }
            for kind in SuiteKind
        },
        "suites": [
            {"kind": kind.value, "file": suite, "cases": [_case(case) for case in cases]}
            for (kind, suite), cases in itertools.groupby(report.cases, key=lambda c: (c.kind, c.suite))
        ],
        "coverage": [
            {"file": one.file, "covered": list(one.covered), "missed": list(one.missed)}
            for one in report.coverage
        ],
        "notes": list(report.notes),
    }


def _counts(report: TestReport, kind: SuiteKind | None) -> dict[str, int]:
    counted = report.counts(kind)
    return {outcome.value: counted[outcome] for outcome in CaseOutcome}


def _case(case: Case) -> dict[str, Any]:
    told = {
        "name": case.name,
        "outcome": case.outcome.value,
        "reason": case.reason,
        "message": case.message,
        "hint": case.hint,
        "file": case.file,
        "line": case.line,
        "seconds": None if case.seconds is None else round(case.seconds, 6),
        "output": case.output,
    }
    return {key: value for key, value in told.items() if value not in ("", None)}
