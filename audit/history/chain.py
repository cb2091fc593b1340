"""The digest chain: each run's digest covers the digest of the run before it. Pure.

Whoever holds the last digest holds all of them: no earlier row can be changed, left out or put between others without
another last digest. What the chain can't show by itself is that its newest runs were cut off, or that the whole of it was
written anew; for that, a digest that was noted elsewhere is compared (``fleetaudit history verify --head``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from audit.history.model import Details, Link, Ratio, RunRow
from audit.model.canonical import canonical_json

FORM = "fleetaudit-history-1"
"""Stands in front of what is hashed: another form would have another name."""


def link(number: int, previous: str, appended_at: str, run: RunRow) -> Link:
    """The run as the next link of a chain."""
    digest = hashlib.sha256(
        canonical_json([FORM, number, previous, appended_at, msgspec.structs.astuple(run)])
    ).hexdigest()
    return Link(number=number, previous=previous, appended_at=appended_at, run=run, digest=digest)


def digest_of_ratios(ratios: Iterable[Ratio]) -> str:
    """sha256 over rows of ratios, in their order."""
    return _digest_of(("ratio", row) for row in ratios)


def digest_of_details(details: Details) -> str:
    """sha256 over all rows that pruning removes, in their order."""
    return _digest_of(
        [
            *(("cluster", row) for row in details.cluster_ratios),
            *(("control", row) for row in details.controls),
            *(("group", row) for row in details.groups),
            ("record", details.record),
        ]
    )


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """The first place where a chain doesn't hold."""

    number: int
    """Of the run."""
    kind: str
    """``missing``, ``changed``, ``order`` (its number was given twice) or ``head`` (the end is not the noted one)."""
    what: str
    """In words: what was found."""


class Walk:
    """Follows a chain from its first link, one link at a time."""

    def __init__(self) -> None:
        self.last: Link | None = None
        """The newest link that held."""
        self.digests: set[str] = set()
        """Of all links that held."""

    def step(self, found: Link) -> Break | None:
        """Look at the next link, by number; what is wrong with it, if anything."""
        number = self.last.number + 1 if self.last else 1
        previous = self.last.digest if self.last else ""
        if found.number > number:
            return Break(number=number, kind="missing", what="the run is not there")
        if found.number < number:
            return Break(number=found.number, kind="order", what="another run has the same number")
        if found.digest != link(found.number, found.previous, found.appended_at, found.run).digest:
            return Break(number=number, kind="changed", what="the row doesn't match its own digest")
        if found.previous != previous:
            return Break(number=number, kind="changed", what="it doesn't follow on the run before it")
        self.last = found
        self.digests.add(found.digest)
        return None


def _digest_of(rows: Iterable[tuple[str, object]]) -> str:
    digest = hashlib.sha256()
    for name, row in rows:
        content = msgspec.structs.astuple(row) if isinstance(row, msgspec.Struct) else row
        digest.update(canonical_json([name, content]) + b"\n")
    return digest.hexdigest()
