"""Finds rules, controls and findings by what people type."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from audit.config.suggest import did_you_mean
from audit.errors import UsageError
from audit.model.control import Catalog, Control
from audit.model.rule import Rule


class FoundControl(msgspec.Struct, frozen=True, kw_only=True):
    """A control and the framework it is in."""

    framework: str
    control: Control


def fold(text: str) -> str:
    """``measure-2.6``, ``MEASURE_2.6`` and ``MEASURE 2.6`` are one id."""
    return text.strip().casefold().replace("_", " ").replace("-", " ")


def find_rule(rules: Iterable[Rule], name: str) -> Rule | None:
    """The rule of this id."""
    return next((rule for rule in rules if rule.id == name), None)


def find_control(catalogs: Iterable[Catalog], name: str) -> FoundControl | None:
    """The control of this id; ``FRAMEWORK:ID`` tells equal ids apart.

    Raises:
        UsageError: several frameworks have a control of this id.
    """
    framework, colon, rest = name.partition(":")
    wanted = fold(rest if colon else name)
    found = [
        FoundControl(framework=catalog.id, control=control)
        for catalog in catalogs
        if not colon or catalog.id == framework
        for control in catalog.controls
        if fold(control.id) == wanted
    ]
    if len(found) > 1:
        names = " or ".join(f"{each.framework}:{each.control.id}" for each in found)
        raise UsageError(f"{name} is in several frameworks", suggestion=f"write {names}")
    return found[0] if found else None


def require_rule(rules: Iterable[Rule], name: str) -> Rule:
    """Like `find_rule`.

    Raises:
        UsageError: there is none.
    """
    known = list(rules)
    found = find_rule(known, name)
    if found is None:
        raise UsageError(
            f"no rule is called {name}",
            suggestion=did_you_mean(
                name, [rule.id for rule in known], otherwise="`fleetaudit rules` lists them"
            ),
        )
    return found


def require_control(catalogs: Iterable[Catalog], name: str) -> FoundControl:
    """Like `find_control`.

    Raises:
        UsageError: there is none, or there are several.
    """
    known = list(catalogs)
    found = find_control(known, name)
    if found is None:
        ids = [control.id for catalog in known for control in catalog.controls]
        raise UsageError(
            f"no control is called {name}",
            suggestion=did_you_mean(name, ids, otherwise="`fleetaudit controls` lists them"),
        )
    return found
