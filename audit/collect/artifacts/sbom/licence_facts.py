"""The licences of all components, by expression."""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.sbom import licences
from audit.collect.artifacts.sbom.document import Document
from audit.collect.artifacts.sbom.problems import EXAMPLES, short

MAX_EXPRESSIONS = 500
_STATUSES = (
    licences.KNOWN,
    licences.NONE,
    licences.NOASSERTION,
    licences.ABSENT,
    licences.UNPARSABLE,
    licences.UNDECLARED,
)


def licence_facts(document: Document) -> dict[str, Any]:
    """Counts by status, and the expressions with what they mean; the most frequent ones first."""
    held: dict[str, tuple[list[int], list[str]]] = {}
    for one in document.components:
        expression = one.licence or ""
        found = held.get(expression)
        if found is None:
            found = held[expression] = ([0], [])
        found[0][0] += 1
        if len(found[1]) < EXAMPLES:
            found[1].append(short(one.name or one.id))
    counts = dict.fromkeys(_STATUSES, 0)
    rows = []
    for expression, (number, examples) in held.items():
        row = _row(expression, document.declared_references)
        counts[row["status"]] += number[0]
        rows.append({"expression": short(expression), **row, "components": number[0], "examples": examples})
    rows.sort(key=lambda row: (-row["components"], row["expression"]))
    return {
        "counts": counts,
        "expressions": rows[:MAX_EXPRESSIONS],
        "left_out": max(0, len(rows) - MAX_EXPRESSIONS),
    }


def _row(expression: str, declared: set[str] | None) -> dict[str, Any]:
    found = licences.licence_of(expression)
    status, reason = found.status, found.reason
    missing = [] if declared is None else [one for one in found.references if one not in declared]
    if missing:
        status, reason = licences.UNDECLARED, f"{short(missing[0])} is not declared in the document"
    alternatives = found.alternatives
    return {
        "status": status,
        "reason": reason,
        "licences": list(found.ids),
        "alternatives": None if alternatives is None else [list(way) for way in alternatives],
    }
