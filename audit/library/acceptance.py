"""Loads what people say: statements about controls, and waivers of failures.

Moments follow one rule (`audit.model.expiry`): a date alone is good through the end of that day in UTC, a time needs
its zone, the moment of expiry is expired. Nothing here depends on now or on the machine's zone.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document, Path_, read_document
from audit.library.entries import Problems, convert, day_at, entries_of, suggest
from audit.model.acceptance import Claim, Statement, Waiver
from audit.model.control import Catalog
from audit.model.expiry import expiry_of

# Names of waived subjects are literal. A star can only be the mark that stands for a generated suffix, at the end.
_WILDCARD = re.compile(r"[*?\[\]](?!\Z)|[?\[\]]\Z|\A\*\Z")


class StatementEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One statement as written."""

    control: str
    claim: Claim
    author: str
    date: str
    expires: str
    id: str = ""
    framework: str = ""
    text: str = ""
    evidence: str = ""
    clusters: tuple[str, ...] = ()


class SubjectEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a waiver is about, by its literal names."""

    kind: str
    name: str
    cluster: str = ""
    namespace: str = ""
    container: str = ""


class WaiverEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One waiver as written."""

    rule: str
    subject: dict[str, Any]
    owner: str
    reason: str
    id: str = ""
    expires: str = ""


def load_statements(
    paths: Sequence[Path], catalogs: Sequence[Catalog], *, clusters: Collection[str] | None = None
) -> tuple[Statement, ...]:
    """Load statement files, in file order.

    Args:
        paths: files with a list under ``statements``.
        catalogs: the loaded catalogs; a framework may be left out where the control's id tells it.
        clusters: names of the registered clusters; None when they are not known.

    Raises:
        ContentError: an unknown control, claim or cluster; a missing author, date or expiry; an expiry before the
            date, or no moment; "not applicable" without a text; a doubled id. All errors of all files are attached.
    """
    problems = Problems()
    statements: list[Statement] = []
    for path in paths:
        try:
            document = read_document(path)
        except ContentError as error:
            problems.add(error)
            continue
        for place, entry in entries_of(document, "statements", StatementEntry, problems):
            try:
                statement = _statement(document, place, entry, catalogs, clusters)
                _once(document, place, "statement", statement.id, [s.id for s in statements])
            except ContentError as error:
                problems.add(error)
                continue
            statements.append(statement)
    problems.raise_any()
    return tuple(statements)


def load_waivers(
    paths: Sequence[Path], rule_ids: Collection[str], *, clusters: Collection[str] | None = None
) -> tuple[Waiver, ...]:
    """Load waiver files, in file order. A waiver without an end is accepted here and warned about in its state.

    Args:
        paths: files with a list under ``waivers``.
        rule_ids: rules that exist, selected or not.
        clusters: names of the registered clusters; None when they are not known.

    Raises:
        ContentError: an unknown rule or cluster; a missing subject, owner or reason; a wildcard in a name; an expiry
            that is no moment; a doubled id. All errors of all files are attached.
    """
    problems = Problems()
    waivers: list[Waiver] = []
    for path in paths:
        try:
            document = read_document(path)
        except ContentError as error:
            problems.add(error)
            continue
        for place, entry in entries_of(document, "waivers", WaiverEntry, problems):
            try:
                waiver = _waiver(document, place, entry, rule_ids, clusters)
                _once(document, place, "waiver", waiver.id, [w.id for w in waivers])
            except ContentError as error:
                problems.add(error)
                continue
            waivers.append(waiver)
    problems.raise_any()
    return tuple(waivers)


def _statement(
    document: Document,
    place: Path_,
    entry: StatementEntry,
    catalogs: Sequence[Catalog],
    clusters: Collection[str] | None,
) -> Statement:
    framework = _framework(document, place, entry, catalogs)
    _not_empty(document, place, entry, ("author",))
    if entry.claim is Claim.NOT_APPLICABLE and not entry.text.strip():
        raise document.error("a control that does not apply needs the reason, under text", place)
    _known_clusters(document, (*place, "clusters"), entry.clusters, clusters)
    date = day_at(document, (*place, "date"), entry.date)
    expires = _expiry(document, (*place, "expires"), entry.expires)
    if expires <= dt.datetime(date.year, date.month, date.day, tzinfo=dt.UTC):
        raise document.error("ends before it was made", (*place, "expires"))
    return Statement(
        id=entry.id
        or _made_id("S", framework, entry.control, entry.claim.value, entry.author, *entry.clusters),
        framework=framework,
        control=entry.control,
        claim=entry.claim,
        author=entry.author,
        date=date,
        expires=expires,
        text=entry.text,
        evidence=entry.evidence,
        clusters=entry.clusters,
        file=document.file,
        line=document.line(place),
    )


def _framework(document: Document, place: Path_, entry: StatementEntry, catalogs: Sequence[Catalog]) -> str:
    known = {catalog.id: [control.id for control in catalog.controls] for catalog in catalogs}
    if entry.framework:
        if entry.framework not in known:
            raise document.error(
                f"unknown framework {entry.framework}",
                (*place, "framework"),
                suggestion=suggest(entry.framework, known),
            )
        known = {entry.framework: known[entry.framework]}
    holders = [framework for framework, controls in known.items() if entry.control in controls]
    if len(holders) == 1:
        return holders[0]
    if holders:
        raise document.error(
            f"{entry.control} stands in several frameworks: name one", place, suggestion=", ".join(holders)
        )
    raise document.error(
        f"no control is called {entry.control}",
        (*place, "control"),
        suggestion=suggest(entry.control, [control for controls in known.values() for control in controls]),
    )


def _waiver(
    document: Document,
    place: Path_,
    entry: WaiverEntry,
    rule_ids: Collection[str],
    clusters: Collection[str] | None,
) -> Waiver:
    if entry.rule not in rule_ids:
        raise document.error(
            f"unknown rule {entry.rule}", (*place, "rule"), suggestion=suggest(entry.rule, rule_ids)
        )
    _not_empty(document, place, entry, ("owner", "reason"))
    subject = convert(document, (*place, "subject"), entry.subject, SubjectEntry)
    for name in ("kind", "name", "cluster", "namespace", "container"):
        value = getattr(subject, name)
        where = (*place, "subject", name)
        if not value and name in ("kind", "name"):
            raise document.error("may not be empty", where)
        if _WILDCARD.search(value) or (value.endswith("*") and name != "name"):
            raise document.error(f"{value!r} holds a wildcard; a waiver names one subject literally", where)
    if subject.cluster:
        _known_clusters(document, (*place, "subject", "cluster"), (subject.cluster,), clusters)
    return Waiver(
        id=entry.id
        or _made_id(
            "W", entry.rule, subject.cluster, subject.kind, subject.namespace, subject.name, subject.container
        ),
        rule=entry.rule,
        owner=entry.owner,
        reason=entry.reason,
        expires=_expiry(document, (*place, "expires"), entry.expires) if entry.expires else None,
        cluster=subject.cluster,
        kind=subject.kind,
        namespace=subject.namespace,
        name=subject.name,
        container=subject.container,
        file=document.file,
        line=document.line(place),
    )


def _expiry(document: Document, path: Path_, written: str) -> dt.datetime:
    try:
        return expiry_of(written)
    except ValueError as error:
        raise document.error(str(error), path) from error


def _not_empty(document: Document, place: Path_, entry: msgspec.Struct, names: Sequence[str]) -> None:
    for name in names:
        if not getattr(entry, name).strip():
            raise document.error("may not be empty", (*place, name))


def _known_clusters(
    document: Document, path: Path_, named: Sequence[str], known: Collection[str] | None
) -> None:
    for cluster in named:
        if known is not None and cluster not in known:
            raise document.error(
                f"no cluster is registered as {cluster}", path, suggestion=suggest(cluster, known)
            )


def _once(document: Document, place: Path_, noun: str, name: str, earlier: Collection[str]) -> None:
    if name in earlier:
        raise document.error(f"the {noun} {name} stands twice", place, suggestion="give each its own id")


def _made_id(letter: str, *parts: str) -> str:
    """Stable across runs and files, so that reports can be compared."""
    return f"{letter}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:8]}"
