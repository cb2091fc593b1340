"""Chains of small runs, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from audit.history.chain import link
from audit.history.entries import entry_of
from audit.history.model import Link, RunRow
from tests.history.runs import result

_RUN = entry_of(result(), 0).run


def run(**changes: Any) -> RunRow:
    """A row of a run."""
    return msgspec.structs.replace(_RUN, **changes)


def chain(runs: Sequence[RunRow]) -> list[Link]:
    """The runs as a chain."""
    links: list[Link] = []
    for number, row in enumerate(runs, start=1):
        previous = links[-1].digest if links else ""
        links.append(link(number, previous, "2026-12-01T00:00:00Z", row))
    return links
