"""Loads control catalogs, and settles which of their controls are in the denominator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ConfigError, ContentError
from audit.library.authored import Document, Path_, read_document
from audit.library.entries import Problems, convert, list_at, suggest
from audit.model.control import Catalog, Control, EvidenceKind, Profile, ProfileName

CHECK_ID = re.compile(r"[a-z][a-z0-9]*\.[a-z0-9][a-z0-9-]*\Z", re.ASCII)
_CONTROL_ID = re.compile(r"(?P<category>[A-Z][A-Z0-9]*(?:[ -][A-Z0-9]+)*)[.-](?P<number>[0-9]+)\Z", re.ASCII)
_FRAMEWORK_ID = re.compile(r"[a-z0-9][a-z0-9-]*\Z", re.ASCII)


class _ControlEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    description: str
    evidence_kind: EvidenceKind
    source: str = ""
    checks: tuple[str, ...] = ()


class _FunctionEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    counts: dict[str, int]
    controls: list[Any]


class _CatalogEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    edition: str
    source: str
    order: int
    kinds: dict[EvidenceKind, int]
    functions: list[Any]


def load_catalogs(paths: Sequence[Path]) -> tuple[Catalog, ...]:
    """Load catalogs, sorted by the `order` that each file gives itself.

    Args:
        paths: one YAML file per framework edition, in any order.

    Raises:
        ContentError: a file is unreadable or ill-formed; an id is unknown in form, doubled or out of sequence; or
            the controls do not add up to the counts the file itself declares. All errors of a file are attached.
    """
    catalogs: dict[str, tuple[int, Catalog]] = {}
    for path in paths:
        order, catalog = _load_one(read_document(path))
        if catalog.id in catalogs:
            first = catalogs[catalog.id][1].file
            raise ContentError(
                f"the framework {catalog.id} is defined twice, first in {first}", file=catalog.file, key="id"
            )
        catalogs[catalog.id] = (order, catalog)
    return tuple(catalog for _, catalog in sorted(catalogs.values(), key=lambda item: (item[0], item[1].id)))


def resolve_profile(
    choice: str | Mapping[str, Sequence[str]], catalogs: Sequence[Catalog], *, file: str | None = None
) -> Profile:
    """The controls in the denominator, per framework, in catalog order.

    Args:
        choice: ``technical``, ``full``, or control ids per framework id; a framework left out of the mapping has
            none of its controls selected.
        catalogs: the loaded catalogs.
        file: configuration file that made the choice, for messages.

    Raises:
        ConfigError: an unknown profile, framework or control, or a control named twice.
    """
    if isinstance(choice, str):
        try:
            name = ProfileName(choice)
        except ValueError:
            name = ProfileName.CUSTOM
        if name is ProfileName.CUSTOM:
            raise ConfigError(
                f"unknown profile {choice!r}",
                file=file,
                key="profile",
                suggestion="technical, full, or a list of ids",
            )
        return Profile(name=name, controls={c.id: _standard(c, name) for c in catalogs})
    return Profile(name=ProfileName.CUSTOM, controls=_custom(choice, catalogs, file))


def _standard(catalog: Catalog, name: ProfileName) -> tuple[str, ...]:
    return tuple(
        control.id
        for control in catalog.controls
        if name is ProfileName.FULL or control.evidence_kind is not EvidenceKind.ATTESTATION
    )


def _custom(
    choice: Mapping[str, Sequence[str]], catalogs: Sequence[Catalog], file: str | None
) -> dict[str, tuple[str, ...]]:
    known = {catalog.id: [control.id for control in catalog.controls] for catalog in catalogs}
    for framework, ids in choice.items():
        key = f"profile.{framework}"
        if framework not in known:
            raise ConfigError("unknown framework", file=file, key=key, suggestion=suggest(framework, known))
        for control, times in Counter(ids).items():
            if control not in known[framework]:
                raise ConfigError(
                    f"{framework} has no control {control}",
                    file=file,
                    key=key,
                    suggestion=suggest(control, known[framework]),
                )
            if times > 1:
                raise ConfigError(f"{control} is listed twice", file=file, key=key)
    return {
        framework: tuple(control for control in ids if control in set(choice.get(framework, ())))
        for framework, ids in known.items()
    }


def _load_one(document: Document) -> tuple[int, Catalog]:
    entry = convert(document, (), document.value, _CatalogEntry)
    problems = Problems()
    if not _FRAMEWORK_ID.match(entry.id):
        problems.add(document.error("a framework id is lower case letters, digits and hyphens", ("id",)))
    controls: list[Control] = []
    functions: list[str] = []
    for index, raw in enumerate(entry.functions):
        path: Path_ = ("functions", index)
        try:
            function = convert(document, path, raw, _FunctionEntry)
        except ContentError as error:
            problems.add(error)
            continue
        functions.append(function.id)
        mine = _controls(document, path, function, entry.source, problems)
        _check_sequence(document, path, function, mine, problems)
        controls.extend(mine)
    _check_totals(document, entry, controls, functions, problems)
    problems.raise_any()
    return entry.order, Catalog(
        id=entry.id,
        title=entry.title,
        edition=entry.edition,
        source=entry.source,
        controls=tuple(controls),
        file=document.file,
        digest=document.digest,
        functions=tuple(functions),
    )


def _controls(
    document: Document, path: Path_, function: _FunctionEntry, source: str, problems: Problems
) -> list[Control]:
    controls = []
    for index, raw in enumerate(list_at(document, (*path, "controls"), function.controls)):
        place: Path_ = (*path, "controls", index)
        try:
            entry = convert(document, place, raw, _ControlEntry)
            _check_control(document, place, entry)
        except ContentError as error:
            problems.add(error)
            continue
        controls.append(
            Control(
                id=entry.id,
                title=entry.title,
                function=function.id,
                evidence_kind=entry.evidence_kind,
                source=entry.source or source,
                checks=entry.checks,
                description=entry.description,
            )
        )
    return controls


def _check_control(document: Document, path: Path_, entry: _ControlEntry) -> None:
    if not _CONTROL_ID.match(entry.id):
        raise document.error(
            f"{entry.id!r} is no control id such as GOVERN 1.1 or LFAI-SBOM-01", (*path, "id")
        )
    for name in ("title", "description"):
        if not getattr(entry, name).strip():
            raise document.error("may not be empty", (*path, name))
    if not entry.checks:
        raise document.error("names no check; say what evidence would be accepted", (*path, "checks"))
    for index, check in enumerate(entry.checks):
        if not CHECK_ID.match(check):
            raise document.error(f"{check!r} is no check id such as sbom.present", (*path, "checks", index))
        if check in entry.checks[:index]:
            raise document.error(f"{check} is listed twice", (*path, "checks", index))


def _check_sequence(
    document: Document, path: Path_, function: _FunctionEntry, controls: list[Control], problems: Problems
) -> None:
    """Within each category the numbers run from 1 to the declared count: no id can be lost, doubled or invented."""
    found: dict[str, list[int]] = {}
    for control in controls:
        parts = _CONTROL_ID.match(control.id)
        if parts:
            found.setdefault(parts["category"], []).append(int(parts["number"]))
    for category, count in function.counts.items():
        numbers = found.pop(category, [])
        if numbers != list(range(1, count + 1)):
            problems.add(
                document.error(
                    f"{category} declares {count} controls, numbered from 1, but holds {numbers}",
                    (*path, "counts", category),
                )
            )
    for category in found:
        problems.add(
            document.error(
                f"the category {category} has no declared count",
                (*path, "counts"),
                suggestion=suggest(category, function.counts),
            )
        )


def _check_totals(
    document: Document,
    entry: _CatalogEntry,
    controls: list[Control],
    functions: list[str],
    problems: Problems,
) -> None:
    for what, names in (("control", [c.id for c in controls]), ("function", functions)):
        for name, times in Counter(names).items():
            if times > 1:
                problems.add(document.error(f"the {what} {name} is defined {times} times", ("functions",)))
    for kind in EvidenceKind:
        declared = entry.kinds.get(kind, 0)
        counted = sum(control.evidence_kind is kind for control in controls)
        if declared != counted:
            problems.add(
                document.error(f"declares {declared} {kind.value} controls but holds {counted}", ("kinds",))
            )
    if not controls:
        problems.add(document.error("holds no control", ("functions",)))
