"""Recomputes every digest of a history."""

from __future__ import annotations

import msgspec

from audit.history.chain import Break, Walk, digest_of_details, digest_of_ratios
from audit.history.database.reading import Stored
from audit.history.model import Link
from audit.history.packed import sound


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    runs: int
    """Links that held."""
    whole: int
    """Of these, runs whose details and files are there and held too; the others were pruned."""
    head: str
    """Digest of the last link that held."""
    broken: Break | None
    """The first that didn't."""


def verify(stored: Stored, noted: str = "") -> Verdict:
    """Follow the chain from its first run.

    Args:
        stored: the history.
        noted: a digest that was noted elsewhere; a chain that doesn't hold it is not the one it was noted from.
    """
    links, head = stored.links(), stored.head()
    walk, whole, checked = Walk(), 0, set[str]()
    broken: Break | None = None
    for found in links:
        broken = walk.step(found) or _rows(stored, found, checked)
        if broken:
            break
        whole += not found.pruned_at
        # Nobody has to wait for the whole of it: what was appended to can't change what is looked at next.
        stored.pause()
    broken = broken or _end(head, walk) or _noted(walk, noted)
    return Verdict(
        runs=len(walk.digests), whole=whole, head=walk.last.digest if walk.last else "", broken=broken
    )


def _rows(stored: Stored, found: Link, checked: set[str]) -> Break | None:
    """What belongs to a run, against the digests in its row."""
    if digest_of_ratios(stored.ratios_of(found.number)) != found.run.ratios_sha256:
        return Break(number=found.number, kind="changed", what="its ratios don't match their digest")
    if found.pruned_at:
        return None
    broken = _details(stored, found, checked)
    # Details may have been pruned since the run was listed.
    return None if broken and stored.pruned(found.number) else broken


def _details(stored: Stored, found: Link, checked: set[str]) -> Break | None:
    if digest_of_details(stored.details(found.number)) != found.run.details_sha256:
        return Break(
            number=found.number, kind="changed", what="its findings or controls don't match their digest"
        )
    for name, sha256 in (("report", found.run.result_sha256), ("population", found.run.population_sha256)):
        if sha256 and sha256 not in checked and not sound(stored.pieces(sha256), sha256):
            return Break(number=found.number, kind="changed", what=f"its {name} doesn't match its digest")
        checked.add(sha256)
    return None


def _end(end: tuple[int, str] | None, walk: Walk) -> Break | None:
    number, digest = (walk.last.number, walk.last.digest) if walk.last else (0, "")
    if end is None:
        return Break(number=number, kind="missing", what="the row that names the newest run is not there")
    if end[0] > number:
        return Break(number=number + 1, kind="missing", what="the run is not there")
    if end != (number, digest):
        return Break(
            number=number, kind="changed", what="it is not the run that the history names as its newest"
        )
    return None


def _noted(walk: Walk, noted: str) -> Break | None:
    if not noted or any(digest.startswith(noted) for digest in walk.digests):
        return None
    return Break(
        number=walk.last.number if walk.last else 0,
        kind="head",
        what="the digest that was noted belongs to no run: the end was cut off, or all of it was written anew",
    )
