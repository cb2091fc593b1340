"""Rego that is asked as it stands, all packages of a source together: conftest, admission and list shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from audit.library.foreign.adapters import adapter, package_of, quoted
from audit.library.foreign.draft import (
    SYNTHETIC_REQUEST,
    Draft,
    exact_kinds,
    make_rule,
    whole_objects,
)
from audit.library.foreign.module import Graph, Module, is_function
from audit.library.foreign.naming import rule_id
from audit.library.foreign.outline import Form
from audit.library.foreign.settle import Wanted, policy_gap
from audit.library.foreign.steps import Path, rego_path
from audit.library.foreign.words import annotated
from audit.library.policy_source import PolicySource
from audit.model.api_resources import built_in_kinds
from audit.model.foreign import UNRESOLVED_DATA, ForeignAsk, InventoryLayout, Shape
from audit.model.gap import Notice

FAILURE = re.compile(r"(deny|violation)(_[a-zA-Z0-9]+)*\Z")
WARNING = re.compile(r"warn(_[a-zA-Z0-9]+)*\Z")
ALLOWS = re.compile(r"allow(_[a-zA-Z0-9]+)*\Z")
NOT_ASKED = "rule_not_asked"

Annotations = Mapping[Path, dict[str, Any] | None]
"""Package-scope METADATA."""


def is_decision(name: str, shape: Shape) -> bool:
    """Whether a rule of this name is asked without being named."""
    if FAILURE.match(name) or WARNING.match(name):
        return True
    return shape is Shape.ADMISSION and bool(ALLOWS.match(name) or name == "main")


class PlainReader:
    """Finds the decisions of a source and writes an adapter for each.

    Args:
        source: where the policies come from.
        name: beginning of the rule ids.
        draft: with the modules and data; rules are added to it.
        annotations: of the packages.
    """

    def __init__(self, source: PolicySource, name: str, draft: Draft, annotations: Annotations) -> None:
        self._source = source
        self._name = name
        self._draft = draft
        self._annotations = annotations
        self._graph = Graph(draft.modules)
        self._said_missing: set[tuple[str, str]] = set()
        self._used = {
            node
            for package in self._graph.packages()
            for rule in self._graph.names(package)
            if is_decision(rule, draft.shape)
            for node in self._graph.reachable((package, rule))
            if node != (package, rule)
        }

    def read(self, packages: Sequence[Path]) -> set[str]:
        """Ask the decisions of these packages; the names of those found."""
        found: set[str] = set()
        aggregated = self._aggregated(packages)
        for package in sorted(packages):
            for rule in sorted(self._graph.names(package)):
                if self._source.rules:
                    asked = rule in self._source.rules
                else:
                    asked = is_decision(rule, self._draft.shape)
                if not asked:
                    self._not_asked(package, rule)
                elif is_function(self._graph.statements((package, rule))):
                    self._note(package, rule, "takes arguments, so it is no decision")
                elif (package, rule) in aggregated:
                    self._note(package, rule, "is not asked by itself: main collects it")
                else:
                    found.add(rule)
                    self._want(package, rule)
        return found

    def _aggregated(self, packages: Sequence[Path]) -> set[tuple[Path, str]]:
        """Decisions that a ``main`` collects: the server asks main alone."""
        if self._draft.shape is not Shape.ADMISSION or self._source.rules:
            return set()
        collected: set[tuple[Path, str]] = set()
        for package in packages:
            if "main" in self._graph.names(package):
                collected |= set(self._graph.reachable((package, "main"))) - {(package, "main")}
        return collected

    def _not_asked(self, package: Path, rule: str) -> None:
        """Say which rules look like decisions and are none."""
        statements = self._graph.statements((package, rule))
        if (package, rule) in self._used or rule == "exception":
            return
        if ALLOWS.match(rule):
            self._note(package, rule, "is not asked; name it under rules to ask it")
        elif any(statement.form is Form.SET for _, statement in statements) and _resembles(rule):
            self._note(package, rule, "is never asked; was deny, warn or violation meant?")

    def _note(self, package: Path, rule: str, what: str) -> None:
        owner, statement = self._graph.statements((package, rule))[0]
        self._draft.notices.append(
            Notice(
                source=owner.file,
                code=NOT_ASKED,
                message=f"{rule} of package {rego_path(package)} {what}",
                line=owner.line(statement.line),
            )
        )

    def _want(self, package: Path, rule: str) -> None:
        draft, source = self._draft, self._source
        statements = self._graph.statements((package, rule))
        owner, first = min(statements, key=lambda entry: entry[1].form is Form.DEFAULT)
        blocks = [statement.metadata for _, statement in statements if statement.metadata]
        words = annotated(*blocks, self._annotations.get(package))
        caveats: tuple[str, ...] = (SYNTHETIC_REQUEST,) if draft.shape is Shape.ADMISSION else ()
        if self._unresolved(package, rule):
            caveats += (UNRESOLVED_DATA,)
        at_once = self._kinds_at_once(package, rule)
        if at_once == ():
            draft.gaps.append(
                policy_gap(
                    owner.file,
                    f"{rule} of package {rego_path(package)} looks at all objects together, "
                    "and it cannot be told of which kinds",
                    line=owner.line(first.line),
                    hint="name the kinds of this source in the configuration (policy.sources[].kinds)",
                )
            )
            return
        made = make_rule(
            draft,
            source,
            id_=rule_id(self._name, package, rule),
            words=words,
            title=f"{rule} of {rego_path(package)}",
            file=owner.file,
            line=owner.line(first.line),
            digest_of=[part.text for part in draft.modules],
            package=rego_path(package),
            kinds=source.kinds,
            context=whole_objects(at_once or ()),
            warn_only=bool(WARNING.match(rule)),
            caveats=caveats,
            per_cluster=at_once is not None,
        )
        if at_once is not None:
            draft.inventory = InventoryLayout.BY_KIND
        number = draft.number()
        draft.wanted.append(
            Wanted(
                ask=ForeignAsk(
                    rule=made,
                    package=package_of(number),
                    undefined=f"{rego_path((*package, rule))} is undefined for this object: not evaluated",
                    bad_answer=f"{rego_path((*package, rule))} gives no {_expected(rule)}",
                ),
                adapter=self.adapter(number, package, rule, at_once=at_once),
                roots=((package, rule),),
            )
        )

    def adapter(
        self, number: int, package: Path, rule: str, *, at_once: Sequence[str] | None = None, allow: str = ""
    ) -> str:
        """The adapter of one decision."""
        shape = self._draft.shape
        name = quoted(rego_path((*package, rule)))
        complete = all(
            s.form in (Form.VALUE, Form.DEFAULT) for _, s in self._graph.statements((package, rule))
        )
        failing = bool(FAILURE.match(rule) or WARNING.match(rule))
        if ALLOWS.match(rule):
            reading = f"{allow or self._source.allow or 'permits'}, {name}"
        elif rule == "main":
            reading = f"response, {name}"
        else:
            reading = f"denies, {name}" if shape is Shape.ADMISSION else "messages"
        has_exceptions = shape is Shape.CONFTEST and "exception" in self._graph.names(package) and failing
        return adapter(
            package_of(number),
            (*package, rule),
            reading=reading,
            given=self._given(at_once),
            exception=_suffix(rule) if has_exceptions else None,
            silent=complete and failing,
        )

    def _given(self, at_once: Sequence[str] | None) -> str:
        if self._draft.shape is Shape.ADMISSION:
            return "admission.review"
        if at_once is not None:
            listed = "[" + ", ".join(quoted(kind) for kind in at_once) + "]"
            combined = self._draft.shape is Shape.CONFTEST
            return f"whole.{'combined' if combined else 'objects'}({listed})"
        return "[input]" if self._draft.shape is Shape.LIST else ""

    def _kinds_at_once(self, package: Path, rule: str) -> tuple[str, ...] | None:
        """Kinds a rule wants to see together; None when it looks at one object, empty when they can't be told."""
        shape = self._draft.shape
        if shape is Shape.ADMISSION or not (self._source.combine or self._looks_at_all(package, rule)):
            return None
        return exact_kinds(self._source.kinds) or self._kinds_named(package, rule)

    def _looks_at_all(self, package: Path, rule: str) -> bool:
        uses = self._graph.reachable((package, rule))
        if self._draft.shape is Shape.CONFTEST:
            return is_combined(uses.values())
        return counts_of_input(uses, (package, rule)) > 1

    def _kinds_named(self, package: Path, rule: str) -> tuple[str, ...]:
        words = {
            text
            for statements in self._graph.reachable((package, rule)).values()
            for _, statement in statements
            for text in statement.strings
        }
        return tuple(sorted(key for key in built_in_kinds() if key.rpartition("/")[2] in words))

    def _unresolved(self, package: Path, rule: str) -> bool:
        missing = self._graph.unresolved((package, rule), self._draft.data)
        for owner, reference in missing:
            what = rego_path(tuple(step for step in reference.path if step != "*"))
            if (owner.file, what) in self._said_missing:
                continue
            self._said_missing.add((owner.file, what))
            self._draft.gaps.append(
                policy_gap(
                    owner.file,
                    f"{what} is read and nothing defines it, so what needs it never fires",
                    line=owner.line(reference.line),
                    hint="give the data or the library of this source in the configuration "
                    "(policy.sources[].data, libraries)",
                )
            )
        return bool(missing)


def is_combined(uses: Any) -> bool:
    """Whether rules read ``input[_].contents``, as conftest hands files over with --combine."""
    statements = [statement for group in uses for _, statement in group]
    rooted = any(
        len(r.path) > 1 and r.path[0] == "input" and r.path[1] == "*"
        for s in statements
        for r in s.references
    )
    return rooted and any("contents" in statement.members for statement in statements)


def counts_of_input(uses: Mapping[Any, Sequence[tuple[Module, Any]]], root: Any) -> int:
    """How often one clause goes through the whole input; more than once, and it relates objects to each other."""
    most = 0
    for node, statements in uses.items():
        for _, statement in statements:
            # Inside a comprehension or a call, the list is gathered or counted before one object is looked at.
            times = sum(
                1 + reference.inside for reference in statement.references if reference.path[0] == "input"
            )
            # A function or helper that reads the input again is called from a clause that has done so.
            most = max(most, times if node == root else times * 2)
    return most


def _suffix(rule: str) -> str:
    """What an exception lists for a rule; conftest takes the prefixes away one after the other."""
    if rule in ("deny", "warn", "violation"):
        return ""
    for prefix in ("violation_", "deny_", "warn_"):
        rule = rule.removeprefix(prefix)
    return rule


def _resembles(rule: str) -> bool:
    import difflib  # noqa: PLC0415  # only for rules that nothing asks

    stem = rule.partition("_")[0]
    return bool(difflib.get_close_matches(stem, ("deny", "warn", "violation"), n=1, cutoff=0.6))


def _expected(rule: str) -> str:
    if ALLOWS.match(rule):
        return "truth value"
    return "response" if rule == "main" else "set of messages"
