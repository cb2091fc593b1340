"""Which row belongs to which entry. The CLI does not say, but its rows come in the order of the entries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from audit.testing.kyverno.contents import Contents
from audit.testing.kyverno.output import Row
from audit.testing.kyverno.suite import Expected

AUTOGEN = ("", "autogen-", "autogen-cronjob-")
"""Beginnings of the names that a rule has for Pods, their controllers and CronJobs."""


class Attributed(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one entry."""

    expected: Expected
    rows: tuple[Row, ...]
    strayed: bool
    """None of the named resources exists, and the CLI judged all of them instead."""


def attribute(
    entries: Sequence[Expected], rows: Sequence[Row], contents: Contents
) -> tuple[list[Attributed], tuple[Row, ...]]:
    """Rows by entry, and those that belong to none."""
    found: list[Attributed] = []
    rest = list(rows)
    for _, group in itertools.groupby(entries, key=_together):
        together = list(group)
        if together[0].generates and len(together) > 1:
            found += _shared(together, rest, contents)
        else:
            for entry in together:
                found.append(_take(entry, rest, contents))
    return found, tuple(rest)


def _together(entry: Expected) -> tuple[str, str, bool]:
    return entry.policy, entry.rule, entry.generates


def _take(entry: Expected, rest: list[Row], contents: Contents) -> Attributed:
    """Rows of the entry from the front of `rest`, which loses them.

    The rows of one resource stand together, so one that comes back belongs to the next entry.
    """
    strayed = bool(entry.resources) and all(contents.holds(name) is False for name in entry.resources)
    taken: list[Row] = []
    seen: list[str] = []
    while rest and _fits(entry, rest[0], contents):
        row = rest[0]
        if entry.resources and not strayed and not _names(entry, row):
            break
        if not seen or seen[-1] != row.resource:
            if row.resource in seen:
                break
            seen.append(row.resource)
        taken.append(rest.pop(0))
    return Attributed(expected=entry, rows=tuple(taken), strayed=strayed)


def _shared(entries: Sequence[Expected], rest: list[Row], contents: Contents) -> Iterator[Attributed]:
    """Rows of entries that generate by the same rule: they name what is generated, so they are dealt out evenly."""
    count = sum(1 for _ in itertools.takewhile(lambda row: _fits(entries[0], row, contents), rest))
    shares = [max(1, len(entry.resources)) for entry in entries]
    each = count // sum(shares)
    for number, (entry, share) in enumerate(zip(entries, shares, strict=True), 1):
        size = count if number == len(entries) else min(count, each * share)
        taken, rest[:size] = tuple(rest[:size]), []
        count -= size
        yield Attributed(expected=entry, rows=taken, strayed=False)


def _fits(entry: Expected, row: Row, contents: Contents) -> bool:
    if row.policy != "/".join(entry.policy.split("/")[:2]):
        return False
    if (
        not entry.rule
        or entry.ruleless
        or (contents.knows(entry.policy) and contents.rules_of(entry.policy) is None)
    ):
        return True
    return any(row.rule == f"{prefix}{entry.rule}" for prefix in AUTOGEN)


def _names(entry: Expected, row: Row) -> bool:
    return any(names(resource, row) for resource in entry.resources)


def names(resource: str, row: Row) -> bool:
    """Whether a resource as an entry names it is the one of a row. Rows of what is generated fit every name."""
    parts = row.parts
    if parts is None:
        return True
    namespace, _, name = resource.rpartition("/")
    return name == parts[2] and (not namespace or namespace == parts[1])
