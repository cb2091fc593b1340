"""Rows of a benchmark, whichever tool asked the questions: the facts that are alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from audit.collect.artifacts.evidence.set_aside import SetAside, set_aside_facts, set_aside_notice

MAX_ROWS = 5_000
PASSED, FAILED, MANUAL, UNSURE, EXCLUDED = "passed", "failed", "manual", "unsure", "excluded"
TRUSTED = "parameters.evidence/benchmark-passed.trusted_suppressions"
_WORST_FIRST = (FAILED, UNSURE, MANUAL, PASSED, EXCLUDED)


class Row(msgspec.Struct, kw_only=True):
    """One question, perhaps asked of several things."""

    id: str
    title: str = ""
    severity: str = ""
    instances: list[tuple[str, str]]
    """(status, the tool's own word)."""
    replaced: list[str] = msgspec.field(default_factory=list)
    """Statuses that somebody replaced by those of the instances, or that nobody knows because the test was skipped."""
    set_aside: list[SetAside] = msgspec.field(default_factory=list)

    @property
    def stated(self) -> str:
        """The worst of the instances, as the file has it: one that failed fails the row."""
        return _worst(status for status, _ in self.instances)

    @property
    def status(self) -> str:
        """The worst, with what was replaced."""
        return _worst((self.stated, *self.replaced))


def benchmark_facts(
    rows: list[Row], notices: list[dict[str, Any]], totals: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Rows and counts. `ratio` is passed of those that count: what is excluded is in neither number.

    Args:
        rows: all of them.
        notices: what there is to say of the file besides.
        totals: how the totals of the file compare with its rows; None where the form has none.
    """
    counts = dict.fromkeys(_WORST_FIRST, 0)
    for row in rows:
        counts[row.status] += 1
    counted = sum(counts.values()) - counts[EXCLUDED]
    aside = set_aside_facts(one for row in rows for one in row.set_aside)
    return {
        "status": "evaluated" if counted else "not_evaluated",
        "rows": [
            {
                "id": row.id,
                "title": row.title,
                "severity": row.severity,
                "status": row.status,
                "stated_status": row.stated,
                "stated": [word for _, word in row.instances][:50],
                "instances": len(row.instances),
                "set_aside": [msgspec.to_builtins(one) for one in row.set_aside[:50]],
                "set_aside_left_out": max(0, len(row.set_aside) - 50),
            }
            for row in rows[:MAX_ROWS]
        ],
        "left_out": max(0, len(rows) - MAX_ROWS),
        "counts": counts,
        "instances": sum(len(row.instances) for row in rows),
        "ratio": [counts[PASSED], counted],
        "totals": totals or {"status": "absent"},
        "set_aside": aside,
        "notices": [*notices, *set_aside_notice(aside, TRUSTED)],
    }


def _worst(statuses: Iterable[str]) -> str:
    found = set(statuses)
    return next(status for status in _WORST_FIRST if status in found)
