"""Which row belongs to which entry. The CLI does not say, but its rows come in the order of the entries."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec

from audit.testing.kyverno.contents import Contents
from audit.testing.kyverno.output import Row
from audit.testing.kyverno.suite import Expected

WANTED = re.compile(r"Want (?P<wanted>\S*), got (?P<got>\S*)\Z")
"""What the CLI says of a row that is not as it was expected."""
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
    after = [*entries[1:], None]
    for _, group in itertools.groupby(zip(entries, after, strict=True), key=lambda pair: _together(pair[0])):
        together = list(group)
        if together[0][0].generates and len(together) > 1:
            found += _shared([entry for entry, _ in together], rest, contents)
        else:
            found += [_take(entry, following, rest, contents) for entry, following in together]
    return found, tuple(rest)


def _together(entry: Expected) -> tuple[str, str, bool]:
    return entry.policy, entry.rule, entry.generates


def _take(entry: Expected, following: Expected | None, rest: list[Row], contents: Contents) -> Attributed:
    """Rows of the entry from the front of `rest`, which loses them.

    The rows of one resource stand together, and a rule has one for it: what comes back is the next entry's, if it fits
    there.
    """
    taken: list[Row] = []
    seen: list[str] = []
    rules: set[str] = set()
    while rest and _may_take(entry, rest[0], contents):
        row = rest[0]
        comes_back = row.resource in seen and (row.resource != seen[-1] or row.rule in rules)
        if comes_back and following is not None and _may_take(following, row, contents):
            break
        if not seen or seen[-1] != row.resource:
            seen.append(row.resource)
            rules = set()
        rules.add(row.rule)
        taken.append(rest.pop(0))
    return Attributed(expected=entry, rows=tuple(taken), strayed=_strays(entry, contents))


def _may_take(entry: Expected, row: Row, contents: Contents) -> bool:
    return _fits(entry, row, contents) and (_strays(entry, contents) or _names(entry, row))


def _strays(entry: Expected, contents: Contents) -> bool:
    """Whether none of the resources that an entry names exists: the CLI judges all of them then."""
    return bool(entry.resources) and all(contents.holds(name) is False for name in entry.resources)


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
    wanted = WANTED.match(row.reason)
    if row.policy != "/".join(entry.policy.split("/")[:2]) or (
        wanted is not None and wanted["wanted"] != entry.result
    ):
        return False
    if (
        not entry.rule
        or entry.ruleless
        or (contents.knows(entry.policy) and contents.rules_of(entry.policy) is None)
    ):
        return True
    return any(row.rule == f"{prefix}{entry.rule}" for prefix in AUTOGEN)


def _names(entry: Expected, row: Row) -> bool:
    return not entry.resources or any(names(resource, row) for resource in entry.resources)


def names(resource: str, row: Row) -> bool:
    """Whether a resource as an entry names it is the one of a row. Rows of what is generated fit every name."""
    parts = row.parts
    if parts is None:
        return True
    namespace, _, name = resource.rpartition("/")
    return name == parts[2] and (not namespace or namespace == parts[1])
