"""The formulas of docs/report.md, written once more over exported JSON: plain dictionaries, no code of the package."""

from __future__ import annotations

from collections import Counter
from typing import Any

Row = dict[str, Any]

PARTS = {
    "statement_open": {"statement_open"},
    "statement_expired": {"statement_expired"},
    "no_evidence": {
        "error_pairs",
        "missing_answer",
        "gap",
        "member_not_reached",
        "stale_evidence",
        "no_evidence",
    },
    "no_check": {
        "no_check_built",
        "some_check_not_built",
        "no_deciding_rule",
        "deselected_rule",
        "only_warnings",
    },
}


def fraction(numerator: int, denominator: int) -> dict[str, int]:
    return {"numerator": numerator, "denominator": denominator}


def recomputed(controls: list[Row], framework: str) -> dict[str, Any]:
    """Every number of a framework's score that the page has a formula for, when anything was evaluated."""
    rows = [row for row in controls if row["framework"] == framework and row["fleet"]["in_profile"]]
    p, f, w, i, n = _buckets(row["fleet"]["status"] for row in rows)
    whole = p + f + w + i
    tp, tf, tw, ti, _ = _buckets(row["fleet"]["technical_status"] for row in rows)
    resting = [
        row
        for row in rows
        if row["fleet"]["status"] == "satisfied" and "statement_met" in row["fleet"]["reasons"]
    ]
    return {
        "in_profile": len(rows),
        "satisfied": p,
        "failed": f,
        "waived": w,
        "indeterminate": i,
        "not_applicable": n,
        "strict": fraction(p, whole),
        "high": fraction(p + i, whole),
        "with_waivers": fraction(p + w, whole),
        "evidence_coverage": fraction(p + f + w, whole),
        "technical_only": fraction(tp, tp + tf + tw + ti),
        "attested": fraction(len(resting), p),
        "held_back": _held_back(rows, failed=f, waived=w),
        "functions": _functions(rows),
        "cluster_strict": _clusters(rows),
    }


def _buckets(statuses: Any) -> tuple[int, int, int, int, int]:
    found = Counter(statuses)
    names = ("satisfied", "not_satisfied", "waived", "indeterminate", "not_applicable")
    assert set(found) <= set(names)
    return tuple(found[name] for name in names)  # type: ignore[return-value]


def _held_back(rows: list[Row], *, failed: int, waived: int) -> dict[str, int]:
    undecided = Counter(row["fleet"]["reason"] for row in rows if row["fleet"]["status"] == "indeterminate")
    parts = {name: sum(undecided[reason] for reason in reasons) for name, reasons in PARTS.items()}
    return {"failing": failed, "waived": waived, **parts}


def _functions(rows: list[Row]) -> list[Row]:
    table = []
    for function in dict.fromkeys(row["function"] for row in rows):
        own = [row["fleet"] for row in rows if row["function"] == function]
        p, f, w, i, n = _buckets(row["status"] for row in own)
        table.append(
            {
                "function": function,
                "satisfied": p,
                "failed": f,
                "waived": w,
                "indeterminate": i,
                "not_applicable": n,
                "scanned": sum(row["technical_scanned"] for row in own),
                "complies": sum(row["technical_scanned"] and row["technical_complies"] for row in own),
                "by_waiver": sum(row["technical_complies"] and row["technical_by_waiver"] for row in own),
            }
        )
    return table


def _clusters(rows: list[Row]) -> dict[str, dict[str, int]]:
    statuses: dict[str, list[str]] = {}
    for row in rows:
        for member in row["members"]:
            statuses.setdefault(member["cluster"], []).append(member["status"])
    result = {}
    for cluster, found in statuses.items():
        p, f, w, i, _ = _buckets(found)
        result[cluster] = fraction(p, p + f + w + i)
    return result
