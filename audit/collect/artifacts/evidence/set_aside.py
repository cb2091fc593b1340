"""What somebody put aside after the tool had found it: suppressions, exceptions, skipped tests, overridden results.

Whoever writes the file decides what stands there, and that is mostly the party that is audited. So a finding put aside
is still a finding; a rule believes its absence only when the configuration trusts the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

MAX_NAMED = 20
NAMED = 5
"""Of them in a sentence."""


class SetAside(msgspec.Struct, frozen=True, kw_only=True):
    """That one finding was put aside. The reason given is not taken over: it is free text, and may quote a secret."""

    status: str
    """The tool's own word: ``ignored``, ``not_affected``, ``accepted``, ``skip``."""
    source: str
    """Where that was said, or by whom: ``.trivyignore``, ``inSource``, an authority."""
    times: int = 1
    """More than once where the file gives a number and no list."""


def set_aside_facts(found: Iterable[SetAside]) -> dict[str, Any]:
    """How many, by status and by source."""
    listed = list(found)
    return {
        "count": sum(one.times for one in listed),
        "statuses": _counted((one.status, one.times) for one in listed),
        "sources": _counted((one.source, one.times) for one in listed),
    }


def set_aside_notice(facts: dict[str, Any], parameter: str) -> list[dict[str, Any]]:
    """The notice about them; an empty list when there are none.

    Args:
        facts: what `set_aside_facts` gave.
        parameter: the configuration key under which a source is trusted.
    """
    number = facts["count"]
    if not number:
        return []
    statuses = ", ".join(f"{count} {word}" for word, count in list(facts["statuses"].items())[:NAMED])
    sources = ", ".join(list(facts["sources"])[:NAMED])
    message = (
        f"{number} {'finding was' if number == 1 else 'findings were'} set aside by whoever made the file ({statuses}; "
        f"source: {sources}); such a finding counts as found unless {parameter} names its source"
    )
    return [{"code": "set_aside", "message": message, "count": number}]


def _counted(words: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The most frequent ones first, so that a hostile file with a million words makes a short list."""
    counts: Counter[str] = Counter()
    for word, times in words:
        counts[word or "not said"] += times
    first = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    kept = dict(first[:MAX_NAMED])
    rest = sum(count for _, count in first[MAX_NAMED:])
    return kept | ({"others": rest} if rest else {})
