"""The short form of a mapping file: an id, the pillar it belongs to, and the check that looks at it.

    CVE-2026-1234: {pillar: MANAGE, category: MANAGE 3, subcategory: sbom.vuln}

`pillar` places the item in a function of a framework, `subcategory` names a check of the library (never a command).
Entries are kept as written; one whose id or check nobody knows is listed as unmapped, not an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document
from audit.library.entries import Problems, convert, mapping_at, suggest
from audit.library.meanings import CVE_TOPICS, Meanings
from audit.model.control import Catalog, Check

_CVE = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}\Z", re.ASCII)
_FULL_FORM_KEYS = frozenset({"framework", "mappings"})


class ShortLink(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, placed."""

    id: str
    """A CVE or rule id, as written."""
    pillar: str
    """Function of the framework, in the catalog's spelling."""
    category: str
    """As written: a reader's note, or the start of a control's id that narrows the placing."""
    subcategory: str
    """Check id."""
    framework: str
    controls: tuple[str, ...] = ()
    """Controls of the pillar that name the check; empty when unmapped."""
    unmapped: str = ""
    """Why it leads nowhere; empty when it does not."""
    file: str = ""
    line: int | None = None


class _ShortEntry(msgspec.Struct, frozen=True, kw_only=True):
    pillar: str
    category: str
    subcategory: str


def is_short_form(document: Document) -> bool:
    """Whether a mapping file has neither of the full form's keys."""
    return isinstance(document.value, dict) and _FULL_FORM_KEYS.isdisjoint(document.value)


def read_short_form(
    document: Document,
    catalogs: Sequence[Catalog],
    checks: Collection[Check],
    meanings: Meanings,
    rule_ids: Collection[str],
) -> list[ShortLink]:
    """Read one short-form file.

    Raises:
        ContentError: an ill-formed entry, an unknown pillar, or a refused meaning. All errors are attached.
    """
    pillars = {f.casefold(): (catalog, f) for catalog in catalogs for f in catalog.functions}
    known_checks = {check.id for check in checks}
    problems = Problems()
    links: list[ShortLink] = []
    for name, raw in mapping_at(document, (), document.value, document.value).items():
        try:
            entry = convert(document, (name,), raw, _ShortEntry)
        except ContentError as error:
            problems.add(error)
            continue
        placed = pillars.get(entry.pillar.casefold())
        if placed is None:
            problems.add(
                document.error(
                    f"unknown pillar {entry.pillar}",
                    (name, "pillar"),
                    suggestion=suggest(entry.pillar, [function for _, function in pillars.values()]),
                )
            )
            continue
        catalog, function = placed
        controls = _controls(catalog, function, entry)
        for control in controls:
            topics_of = CVE_TOPICS if _CVE.match(name) else name
            if refused := meanings.refusal(catalog.id, control, topics_of):
                problems.add(
                    document.error(
                        refused, (name, "subcategory"), suggestion=meanings.instead(catalog.id, control)
                    )
                )
        unmapped = ""
        if not _CVE.match(name) and name not in rule_ids:
            unmapped = "neither a CVE id nor the id of a loaded rule"
        elif entry.subcategory not in known_checks:
            unmapped = f"no check is called {entry.subcategory}"
        elif not controls:
            unmapped = f"no control of {function} names the check {entry.subcategory}"
        links.append(
            ShortLink(
                id=name,
                pillar=function,
                category=entry.category,
                subcategory=entry.subcategory,
                framework=catalog.id,
                controls=() if unmapped else controls,
                unmapped=unmapped,
                file=document.file,
                line=document.line((name,)),
            )
        )
    problems.raise_any()
    return links


def _controls(catalog: Catalog, function: str, entry: _ShortEntry) -> tuple[str, ...]:
    named = [
        control.id
        for control in catalog.controls
        if control.function == function and entry.subcategory in control.checks
    ]
    prefix = entry.category.strip().upper()
    narrowed = [
        control for control in named if control == prefix or control.startswith((f"{prefix}.", f"{prefix}-"))
    ]
    return tuple(narrowed or named)
