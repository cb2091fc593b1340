"""Minimum elements: which are there, element by element, under three lists of what a bill of materials must say.

`ntia`: the minimum elements of 2021, mapped as in annex K.2 of SPDX 2.3. `cisa`: the minimum expected baseline of CISA's
third edition of Framing Software Component Transparency. `bsi`: the required fields of BSI TR-03183-2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from audit.collect.artifacts.sbom.document import NOASSERTION, NONE, UNNAMED, Component, Document
from audit.collect.artifacts.sbom.problems import EXAMPLES, short

PRESENT, ABSENT = "present", "absent"
_State = Callable[[Component], str]


def completeness_of(document: Document, standard: str) -> dict[str, Any]:
    """For the facts: each list with its elements."""
    related = document.related | set(document.subjects)
    known: dict[_State, list[str]] = {}
    shared: dict[str, _State] = {
        "supplier": lambda one: _said(one.supplier),
        "name": lambda one: _said(one.name),
        "version": lambda one: _said(one.version),
        "relationship": lambda one: _is(one.id in related),
    }
    licence: _State = lambda one: _said(one.licence)  # noqa: E731  # in two lists, and asked once
    named = {"author": bool(document.authors or document.tools), "timestamp": document.created is not None}
    return {
        "ntia": _profile(document, known, named, shared | {"identifier": lambda one: _is(_identified(one))}),
        "cisa": _profile(
            document,
            known,
            named | {"primary": bool(document.subjects)},
            shared
            | {
                "identifier": lambda one: _is(bool(one.identifiers)),
                "hash": lambda one: _is(bool(one.digests)),
                "licence": licence,
                "copyright": lambda one: _said(one.copyright),
            },
        ),
        "bsi": _profile(
            document,
            known,
            {"contact": document.contact, "timestamp": document.created is not None},
            shared
            | {
                "filename": lambda one: _said(one.filename),
                "licence": licence,
                "sha512": lambda one: _is(any(name == "SHA512" for name, _ in one.digests)),
                **_states(standard),
            },
            unchecked=() if standard == "CycloneDX" else ("executable", "archive", "structured"),
        ),
    }


def _states(standard: str) -> dict[str, _State]:
    if standard != "CycloneDX":
        return {}
    return {
        "executable": lambda one: _is("executable" in one.states),
        "archive": lambda one: _is("archive" in one.states),
        "structured": lambda one: _is("structured" in one.states),
    }


def _identified(one: Component) -> bool:
    return bool(one.identifiers) or (one.id != "" and not one.id.startswith(UNNAMED))


def _is(there: bool) -> str:  # noqa: FBT001  # a yes or no, and nothing else
    return PRESENT if there else ABSENT


def _said(value: str | None) -> str:
    if value is None:
        return ABSENT
    if value == NOASSERTION:
        return "noassertion"
    return "none" if value == NONE else PRESENT


def _profile(
    document: Document,
    known: dict[_State, list[str]],
    named: dict[str, bool],
    states: dict[str, _State],
    unchecked: Iterable[str] = (),
) -> dict[str, Any]:
    """One list; what was found for an element of another list already is taken from `known`."""
    elements = [_row(name, "document", [_is(there)], ()) for name, there in named.items()]
    components = document.components
    for name, state in states.items():
        found = known.get(state)
        if found is None:
            found = known[state] = [state(one) for one in components]
        elements.append(_row(name, "component", found, components))
    missing = sum(row["absent"] + row["noassertion"] for row in elements)
    return {
        "status": "complete" if missing == 0 and components else "incomplete",
        "components": len(components),
        "elements": elements,
        "unchecked": list(unchecked),
    }


def _row(name: str, scope: str, found: list[str], components: Iterable[Component]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "scope": scope, "total": len(found)}
    row |= {state: found.count(state) for state in (PRESENT, ABSENT, "noassertion", "none")}
    lacking: list[str] = []
    if row[ABSENT] or row["noassertion"]:
        for one, state in zip(components, found, strict=False):
            if state in {ABSENT, "noassertion"}:
                lacking.append(short(one.name or one.id))
                if len(lacking) == EXAMPLES:
                    break
    return row | {"examples": lacking}
