"""Reads the population file of a run and draws samples from it that anybody can draw again."""

from __future__ import annotations

import csv
import gzip
import hashlib
import heapq
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from audit.errors import UsageError
from audit.record.population import COLUMNS, PairRow


def verify_digest(path: Path, expected: str) -> None:
    """Compare the file with the run record.

    Raises:
        UsageError: it is not the file of this result, or it is damaged.
    """
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    if digest.hexdigest() != expected:
        raise UsageError(
            "the population file is not the one of this result: its sha256 differs from the run record's",
            file=str(path),
            suggestion="use the file that the same run wrote",
        )


def read_pairs(path: Path) -> Iterator[PairRow]:
    """Stream all pairs.

    Raises:
        UsageError: no population file of ours, or it is damaged.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream)
            if tuple(next(rows, ())) != COLUMNS:
                raise UsageError("no population file: its columns differ", file=str(path))
            for number, row in enumerate(rows, start=2):
                if len(row) != len(COLUMNS):
                    raise UsageError("the population file is damaged", file=str(path), line=number)
                yield PairRow(*row)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from None


def draw(pairs: Iterable[PairRow], *, size: int, seed: int) -> list[PairRow]:
    """The `size` pairs with the smallest sha256 over the seed and their identity, in that order.

    The choice depends on nothing but the seed and what the pairs are: not on their order, not on a random generator,
    and not on their outcomes. Lines of `rank_text` piped into ``sha256sum`` repeat it by hand.
    """
    return heapq.nsmallest(size, pairs, key=lambda pair: _rank(pair, seed))


def rank_text(pair: PairRow, seed: int) -> str:
    """What is hashed: the seed and the identity, parted by tabs."""
    return "\t".join((str(seed), *pair.identity))


def _rank(pair: PairRow, seed: int) -> tuple[str, tuple[str, ...]]:
    digest = hashlib.sha256(rank_text(pair, seed).encode("utf-8", "surrogatepass")).hexdigest()
    return digest, pair.identity


def _unreadable(path: Path, error: Exception) -> UsageError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return UsageError(
        f"the population file cannot be read: {reason}",
        file=str(path),
        suggestion="it stands beside the JSON report that the run wrote",
    )
