"""The child's rows held against the CLI's. Where they differ neither is believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.evaluate.kyverno.log_lines import clean
from audit.evaluate.kyverno.messages import sorted_parts
from audit.evaluate.kyverno.report_stream import Row

DISPUTED = "fleetaudit: disputed"
"""Source of a row that stands for a difference."""

_Said = tuple[str, str, str]
"""(result, message, exceptions)"""


def agreed(ours: Sequence[Row], theirs: Sequence[Row]) -> list[Row]:
    """Rows of one policy about one object: the child's where both say the same, else one error for each rule.

    Args:
        ours: the child's.
        theirs: the CLI's.
    """
    said, heard = _by_rule(ours), _by_rule(theirs)
    if said == heard:
        return list(ours)
    rows = [row for row in ours if said[row.rule] == heard.get(row.rule)]
    policy = (*ours, *theirs)[0].policy
    for rule in sorted(said.keys() | heard.keys()):
        if said.get(rule) != heard.get(rule):
            message = (
                f"Kyverno's engine says {_words(said.get(rule))}, the CLI says {_words(heard.get(rule))}"
            )
            rows.append(Row(policy=policy, rule=rule, result="error", message=message, source=DISPUTED))
    return rows


def _by_rule(rows: Iterable[Row]) -> dict[str, list[_Said]]:
    found: dict[str, list[_Said]] = {}
    for row in rows:
        found.setdefault(row.rule, []).append(_said(row))
    return {rule: sorted(said) for rule, said in found.items()}


def _said(row: Row) -> _Said:
    # The words of what passed or was spared are read by nobody, and the child does not send them. Of several causes of an
    # error Kyverno names the one that it meets first in a map.
    silent = row.result in ("pass", "skip", "error")
    message = "" if silent else sorted_parts(row.message)
    return row.result, message, row.properties.get("exceptions", "")


def _words(said: Sequence[_Said] | None) -> str:
    if not said:
        return "nothing"
    return ", ".join(f"{result} ({clean(message, 80)})" if message else result for result, message, _ in said)
