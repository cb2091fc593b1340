"""Which decisions differ between two populations of the same objects: what another set of policies would change."""

from __future__ import annotations

import enum
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

import msgspec

from audit.model.finding import Outcome
from audit.record.population import PairRow

_INSERTED_AT_ONCE = 5_000


class FlipKind(enum.Enum):
    """What a flip means for whoever would change the policies."""

    NEW_FAILURE = "new_failure"
    GONE_FAILURE = "gone_failure"
    UNDECIDED = "undecided"
    """Could not be judged by the second side alone."""
    DECIDED = "decided"
    """Could not be judged by the first side alone, and doesn't fail."""
    OTHER = "other"
    """Between pass, warn and skip."""


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """One pair with two outcomes. An empty one was not asked."""

    kind: FlipKind
    row: PairRow
    """Of the side that asked; of the second when both did."""
    before: str
    after: str


class Counts(msgspec.Struct, kw_only=True):
    """Counts of a whole comparison."""

    same: int = 0
    only_before: int = 0
    """Asked by the first side alone, and no failure."""
    only_after: int = 0


def flips(before: Iterable[PairRow], after: Iterable[PairRow], counts: Counts) -> Iterator[Flip]:
    """Pairs whose outcome differs, in the order of the second population; then those that only the first asked.

    A pair is a rule and an object at its place: what the two sides call a rule decides what is compared. Pairs that one
    side alone asked are flips where they fail or could not be judged. Memory does not grow with the populations.

    Args:
        before: population of the first side.
        after: population of the second.
        counts: what is no flip is counted here.
    """
    with closing(sqlite3.connect("")) as known:  # a file without a name, on disk once it is large
        known.execute("PRAGMA journal_mode = OFF")
        known.execute("CREATE TABLE pairs (key BLOB PRIMARY KEY, place INTEGER, row BLOB) WITHOUT ROWID")
        _fill(known, before)
        for row in after:
            key = _key(row)
            found = known.execute("SELECT row FROM pairs WHERE key = ?", (key,)).fetchone()
            if found is None:
                flip = _flip(row, "", row.outcome)
                counts.only_after += flip is None
            else:
                known.execute("DELETE FROM pairs WHERE key = ?", (key,))
                was = msgspec.msgpack.decode(found[0], type=PairRow)
                flip = _flip(row, was.outcome, row.outcome)
                counts.same += flip is None
            if flip is not None:
                yield flip
        for (data,) in known.execute("SELECT row FROM pairs ORDER BY place"):
            row = msgspec.msgpack.decode(data, type=PairRow)
            flip = _flip(row, row.outcome, "")
            counts.only_before += flip is None
            if flip is not None:
                yield flip


def _fill(known: sqlite3.Connection, population: Iterable[PairRow]) -> None:
    waiting: list[tuple[bytes, int, bytes]] = []
    for place, row in enumerate(population):
        waiting.append((_key(row), place, msgspec.msgpack.encode(row)))
        if len(waiting) >= _INSERTED_AT_ONCE:
            known.executemany("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", waiting)
            waiting.clear()
    known.executemany("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", waiting)


def _key(row: PairRow) -> bytes:
    return hashlib.blake2b("\0".join(row.identity).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _flip(row: PairRow, before: str, after: str) -> Flip | None:
    if before == after:
        return None
    fail, error = Outcome.FAIL.value, Outcome.ERROR.value
    if after == fail:
        kind = FlipKind.NEW_FAILURE
    elif after == error:
        kind = FlipKind.UNDECIDED
    elif before == fail:
        kind = FlipKind.GONE_FAILURE
    elif not (before and after):
        return None
    elif before == error:
        kind = FlipKind.DECIDED
    else:
        kind = FlipKind.OTHER
    return Flip(kind=kind, row=row, before=before, after=after)
