"""Loads mapping files: which rules speak to which controls, how strongly, and why.

Packaged files come first; a user's files add entries, or replace the packaged entry for the same rule and control.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document, Path_, read_document
from audit.library.entries import Problems, convert, day_at, entries_of, mapping_at, suggest
from audit.library.meanings import Meanings, read_topics
from audit.library.short_form import ShortLink, is_short_form, read_short_form
from audit.model.control import Catalog, Check, EvidenceKind, MappingEntry, Strength
from audit.model.gap import Notice

_HEAD = ("framework", "edition", "author", "date", "topics")


class Mappings(msgspec.Struct, frozen=True, kw_only=True):
    """All mapping files together."""

    entries: tuple[MappingEntry, ...]
    """Catalog order, then rule id; one per framework, control and rule."""
    short: tuple[ShortLink, ...] = ()
    """Entries in the short form, kept as written and placed."""
    digests: dict[str, str] = {}
    """Framework id to sha256 (hex) over its mapping files in the order read; ``short`` for the short form."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """One per short-form entry that leads nowhere, so that it is listed as unmapped."""
        return tuple(
            Notice(source=link.file, code="unmapped", message=f"{link.id}: {link.unmapped}", line=link.line)
            for link in self.short
            if link.unmapped
        )


class MappingHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a mapping file says of itself."""

    framework: str
    edition: str
    author: str
    date: str


class MappingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One link as written, from one rule or several."""

    control: str
    strength: Strength
    rationale: str
    limits: str
    rule: str = ""
    rules: tuple[str, ...] = ()
    author: str = ""
    date: str = ""

    def named(self) -> tuple[str, ...]:
        """The rules of the row."""
        return self.rules or ((self.rule,) if self.rule else ())


class MappingContext(msgspec.Struct, frozen=True, kw_only=True):
    """What mapping files may speak of."""

    catalogs: tuple[Catalog, ...]
    checks: tuple[Check, ...]
    meanings: Meanings
    rule_ids: Collection[str]
    """Every rule that exists, selected or not."""
    warn_only: Collection[str] = ()
    """Rules that only warn: they may not decide."""


def load_mappings(
    paths: Sequence[Path], context: MappingContext, *, user_paths: Sequence[Path] = ()
) -> Mappings:
    """Load packaged and user mapping files.

    Args:
        paths: packaged files; a rule and control may meet only once in them.
        context: catalogs, checks, meanings and rules to hold the files against.
        user_paths: the user's files, later ones winning; full or short form.

    Raises:
        ContentError: an unknown framework, edition, control or rule; a missing rationale, limit, author or date; a
            doubled entry; a rule that only warns, or any rule on a control that only people can decide, mapped
            `decides`; a refused meaning. All errors of a file are attached.
    """
    entries: dict[tuple[str, str, str], MappingEntry] = {}
    short: list[ShortLink] = []
    digests: dict[str, list[str]] = {}
    for path in paths:
        document = read_document(path)
        for key, entry in _read_file(document, context).items():
            if key in entries:
                raise document.error(
                    f"{entry.rule} is mapped to {entry.control} in {entries[key].file} already", ("mappings",)
                )
            entries[key] = entry
        digests.setdefault(document.value["framework"], []).append(document.digest)
    for path in user_paths:
        document = read_document(path)
        if is_short_form(document):
            short += read_short_form(
                document, context.catalogs, context.checks, context.meanings, context.rule_ids
            )
            digests.setdefault("short", []).append(document.digest)
        else:
            entries.update(_read_file(document, context))
            digests.setdefault(document.value["framework"], []).append(document.digest)
    return Mappings(
        entries=_in_catalog_order(entries.values(), context),
        short=tuple(short),
        digests={name: _digest(found) for name, found in digests.items()},
    )


def _digest(digests: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _in_catalog_order(entries: Collection[MappingEntry], context: MappingContext) -> tuple[MappingEntry, ...]:
    rank = {
        (catalog.id, control.id): (number, index)
        for number, catalog in enumerate(context.catalogs)
        for index, control in enumerate(catalog.controls)
    }
    return tuple(sorted(entries, key=lambda e: (rank[e.framework, e.control], e.rule)))


def _read_file(document: Document, context: MappingContext) -> dict[tuple[str, str, str], MappingEntry]:
    mapping_at(document, (), document.value, (*_HEAD, "mappings"))
    head = convert(document, (), {k: v for k, v in document.value.items() if k in _HEAD[:4]}, MappingHead)
    catalog = _catalog(document, head, context.catalogs)
    date = day_at(document, ("date",), head.date)
    meanings = context.meanings.with_topics(_own_topics(document, context.meanings))
    problems = Problems()
    entries: dict[tuple[str, str, str], MappingEntry] = {}
    for place, row in entries_of(document, "mappings", MappingRow, problems, other_keys=_HEAD):
        errors = _row_errors(document, place, row, catalog, meanings, context)
        for error in errors:
            problems.add(error)
        if errors:
            continue
        for rule in row.named():
            key = (catalog.id, row.control, rule)
            if key in entries:
                problems.add(document.error(f"{rule} is mapped to {row.control} twice", place))
            entries[key] = MappingEntry(
                framework=catalog.id,
                control=row.control,
                rule=rule,
                strength=row.strength,
                rationale=row.rationale,
                limits=row.limits,
                author=row.author or head.author,
                date=day_at(document, (*place, "date"), row.date) if row.date else date,
                file=document.file,
            )
    problems.raise_any()
    return entries


def _catalog(document: Document, head: MappingHead, catalogs: Sequence[Catalog]) -> Catalog:
    known = {catalog.id: catalog for catalog in catalogs}
    if head.framework not in known:
        raise document.error(
            f"unknown framework {head.framework}", ("framework",), suggestion=suggest(head.framework, known)
        )
    catalog = known[head.framework]
    if head.edition != catalog.edition:
        raise document.error(
            f"written for edition {head.edition}, but edition {catalog.edition} is loaded",
            ("edition",),
            suggestion="review the mapping against the loaded edition",
        )
    if not head.author.strip():
        raise document.error("may not be empty", ("author",))
    return catalog


def _own_topics(document: Document, meanings: Meanings) -> dict[str, tuple[str, ...]]:
    topics = read_topics(document, document.value.get("topics"))
    for name, words in topics.items():
        if meanings.topics_of(name):
            raise document.error(
                f"the topics of {name} are known already; a file can describe rules of its own only",
                ("topics", name),
            )
        for word in words:
            if word not in meanings.known_topics:
                raise document.error(
                    f"unknown topic {word}",
                    ("topics", name),
                    suggestion=suggest(word, meanings.known_topics) or "see controls/meanings.yaml",
                )
    return topics


def _row_errors(
    document: Document,
    place: Path_,
    row: MappingRow,
    catalog: Catalog,
    meanings: Meanings,
    context: MappingContext,
) -> list[ContentError]:
    errors = [
        document.error("may not be empty", (*place, name))
        for name in ("rationale", "limits")
        if not getattr(row, name).strip()
    ]
    controls = {control.id: control for control in catalog.controls}
    if row.control not in controls:
        errors.append(
            document.error(
                f"{catalog.id} has no control {row.control}",
                (*place, "control"),
                suggestion=suggest(row.control, controls),
            )
        )
        return errors
    if bool(row.rule) == bool(row.rules):
        errors.append(document.error("needs either a rule or a list of rules", place))
    decides = row.strength is Strength.DECIDES
    if decides and controls[row.control].evidence_kind is EvidenceKind.ATTESTATION:
        errors.append(
            document.error(
                f"only people can decide {row.control}; a rule can support it",
                (*place, "strength"),
                suggestion="strength: supports",
            )
        )
    for rule in row.named():
        errors += _rule_errors(document, place, row, catalog, rule, meanings, context)
    return errors


def _rule_errors(
    document: Document,
    place: Path_,
    row: MappingRow,
    catalog: Catalog,
    rule: str,
    meanings: Meanings,
    context: MappingContext,
) -> list[ContentError]:
    where = (*place, "rules" if row.rules else "rule")
    if rule not in context.rule_ids:
        return [document.error(f"unknown rule {rule}", where, suggestion=suggest(rule, context.rule_ids))]
    errors = []
    if row.strength is Strength.DECIDES and rule in context.warn_only:
        errors.append(
            document.error(f"{rule} only warns, so it cannot decide", where, suggestion="strength: supports")
        )
    if refused := meanings.refusal(catalog.id, row.control, rule):
        errors.append(document.error(refused, where, suggestion=meanings.instead(catalog.id, row.control)))
    return errors
