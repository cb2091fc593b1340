"""Rows of a benchmark, whichever tool asked the questions: the facts that are alike."""

from __future__ import annotations

from typing import Any

import msgspec

MAX_ROWS = 5_000
PASSED, FAILED, MANUAL, UNSURE, EXCLUDED = "passed", "failed", "manual", "unsure", "excluded"
_WORST_FIRST = (FAILED, UNSURE, MANUAL, PASSED, EXCLUDED)


class Row(msgspec.Struct, kw_only=True):
    """One question, perhaps asked of several things."""

    id: str
    title: str = ""
    severity: str = ""
    instances: list[tuple[str, str]]
    """(status, the tool's own word)."""

    @property
    def status(self) -> str:
        """The worst of the instances: one that failed fails the row."""
        found = {status for status, _ in self.instances}
        return next(status for status in _WORST_FIRST if status in found)


def benchmark_facts(rows: list[Row]) -> dict[str, Any]:
    """Rows and counts. `ratio` is passed of those that count: what is excluded is in neither number."""
    counts = dict.fromkeys(_WORST_FIRST, 0)
    for row in rows:
        counts[row.status] += 1
    counted = sum(counts.values()) - counts[EXCLUDED]
    return {
        "status": "evaluated" if counted else "not_evaluated",
        "rows": [
            {
                "id": row.id,
                "title": row.title,
                "severity": row.severity,
                "status": row.status,
                "stated": [word for _, word in row.instances][:50],
                "instances": len(row.instances),
            }
            for row in rows[:MAX_ROWS]
        ],
        "left_out": max(0, len(rows) - MAX_ROWS),
        "counts": counts,
        "instances": sum(len(row.instances) for row in rows),
        "ratio": [counts[PASSED], counted],
    }
