"""Loads twins: the user's files, held together with what policies say of themselves against the rules that exist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.authored import read_document
from audit.library.entries import Problems, entries_of, suggest
from audit.model.control import MappingEntry, Strength
from audit.model.gap import Notice
from audit.model.rule import Rule
from audit.model.twin import Twin

TWIN_WIDER = "twin_wider"


class TwinRow(msgspec.Struct, frozen=True, kw_only=True):
    """One declaration as written."""

    rule: str
    twins: tuple[str, ...]
    reason: str


class Twins(msgspec.Struct, frozen=True, kw_only=True):
    """All declared twins."""

    declared: tuple[Twin, ...] = ()
    notices: tuple[Notice, ...] = ()
    """Twins that are asked of kinds their rule is not asked of."""


def load_twins(paths: Sequence[Path], annotated: Sequence[Twin], rules: Sequence[Rule]) -> Twins:
    """Load the user's files and check them together with what policies' annotations say.

    Args:
        paths: files with a list under ``twins``.
        annotated: twins that policies name themselves.
        rules: every rule that exists, selected or not.

    Raises:
        ContentError: an unknown rule, a rule that is its own twin, a twin of two rules, a twin that has twins itself, a
            built-in rule of this project declared a twin of another one, a rule that fails beside one that only warns. All errors of all files are attached.
    """
    problems = Problems()
    found: list[tuple[Twin, str]] = [(twin, "") for twin in annotated]
    for path in paths:
        try:
            document = read_document(path)
        except ContentError as error:
            problems.add(error)
            continue
        for place, row in entries_of(document, "twins", TwinRow, problems):
            if not row.twins:
                problems.add(document.error("may not be empty", (*place, "twins")))
            if not row.reason.strip():
                problems.add(document.error("may not be empty", (*place, "reason")))
            twin = Twin(
                rule=row.rule,
                others=row.twins,
                reason=row.reason,
                file=document.file,
                line=document.line(place),
            )
            found.append((twin, ".".join(str(part) for part in place)))
    known = {rule.id: rule for rule in rules}
    told: dict[str, Twin] = {}
    heads = {twin.rule for twin, _ in found}
    for twin, key in found:
        for message, hint in _wrong(twin, known, told, heads):
            problems.add(
                ContentError(message, file=twin.file, line=twin.line, key=key or None, suggestion=hint)
            )
        told |= dict.fromkeys(twin.others, twin)
    problems.raise_any()
    declared = tuple(twin for twin, _ in found)
    return Twins(declared=declared, notices=tuple(_wider(declared, known)))


def _wrong(
    twin: Twin, known: Mapping[str, Rule], told: Mapping[str, Twin], heads: Collection[str]
) -> Iterable[tuple[str, str | None]]:
    """What is wrong with one declaration, and what may be meant instead."""
    if twin.rule not in known:
        yield f"unknown rule {twin.rule}", suggest(twin.rule, known)
    for other in twin.others:
        if other not in known:
            yield f"unknown rule {other}", suggest(other, known)
        elif other == twin.rule:
            yield f"{other} is declared a twin of itself", None
        elif known[other].builtin and known[other].engine != "kyverno":
            # Two built-in rules never ask the same, and folding them would make the denominator smaller.
            yield f"{other} is a built-in rule of its own", "name it under rule, and the others under twins"
        elif other in told:
            yield f"{other} is a twin of {told[other].rule} already", None
        elif other in heads:
            yield f"{other} has twins of its own", f"name them as twins of {twin.rule}"
        elif twin.rule in known and known[twin.rule].warn_only and not known[other].warn_only:
            yield f"{twin.rule} only warns, and {other} fails", None


def _wider(declared: Iterable[Twin], known: Mapping[str, Rule]) -> Iterable[Notice]:
    for twin in declared:
        rule = known[twin.rule]
        kinds = {kind for other in twin.others for kind in known[other].kinds}
        beyond = sorted(kind for kind in kinds if not _asked_of(rule, kind))
        if any(not known[other].kinds for other in twin.others) and rule.kinds:
            beyond = ["every kind"]
        if beyond:
            yield Notice(
                source=twin.file,
                code=TWIN_WIDER,
                message=f"{' + '.join(twin.others)} is also asked of {', '.join(beyond)}, which {twin.rule} is not: "
                "these pairs stay its own",
                line=twin.line,
            )


def _asked_of(rule: Rule, kind: str) -> bool:
    """A kind in any group is meant where one of the rule's kinds has its name."""
    group, _, name = kind.rpartition("/")
    return rule.matches(kind) or (group == "*" and any(own.rpartition("/")[2] == name for own in rule.kinds))


def mapped_to_pairs(entries: Sequence[MappingEntry], rule_of: Mapping[str, str]) -> tuple[MappingEntry, ...]:
    """Mapping entries with folded rules replaced by the rule that counts; the stronger of two entries stays.

    Args:
        entries: as loaded.
        rule_of: folded rule to the rule whose pairs it became part of.
    """
    if not rule_of:
        return tuple(entries)
    kept: dict[tuple[str, str, str], MappingEntry] = {}
    for entry in entries:
        own = msgspec.structs.replace(entry, rule=rule_of.get(entry.rule, entry.rule))
        key = (own.framework, own.control, own.rule)
        other = kept.get(key)
        if other is None or (other.strength is not Strength.DECIDES and own.strength is Strength.DECIDES):
            kept[key] = own
    return tuple(kept.values())
