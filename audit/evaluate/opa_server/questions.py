"""The Rego that asks: what a server is told to evaluate for a batch of objects, and how a single answer is looked into.

Answers of one rule about one object come as ``[[applies], [violations]]``, either list being empty where the value is
undefined or `violations` isn't a set of objects with a list as path. The comprehensions keep an undefined answer of one
rule from taking the others with it, as in the embedded engine. `object.get` hides the type of `violations`: OPA's
checker would refuse the whole question because of one rule with an odd type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

ASK = "fleetaudit_ask"
"""Package of the generated module."""
STAMP = "fleetaudit_stamp"
"""Data document that says which inventory is in place."""


class Refs(NamedTuple):
    """Where a rule is on the server, for example ``data.pod.privileged.applies``."""

    applies: str
    violations: str


def plain_refs(package: str) -> Refs:
    """A rule whose package is where it says."""
    return Refs(f"data.{package}.applies", f"data.{package}.violations")


def answer(refs: Refs) -> str:
    """Expression with the answer of a rule."""
    return (
        f"[[x | x = {refs.applies}], "
        f'[x | {refs.applies}; x = object.get({{"v": {refs.violations}}}, "v", null); '
        "is_set(x); every v in x { is_object(v); is_array(v.path) }]]"
    )


def close_look(refs: Refs) -> str:
    """Expression that describes what a rule answers, for answers that are not well-formed: a list of one `Look`.

    The list is empty when `violations` is undefined.
    """
    return (
        f'[look | x := object.get({{"v": {refs.violations}}}, "v", null); '
        'look := {"type": type_name(x), "members": [m | is_set(x); some v in x; m := {'
        '"type": type_name(v), '
        '"keys": [sprintf("%v", [[k]]) | is_object(v); some k, _ in v], '
        '"types": {n: t | is_object(v); some n in ["path", "message", "container"]; t := type_name(v[n])}, '
        '"path": [[type_name(s), sprintf("%v", [[s]])] | is_object(v); is_array(v.path); some s in v.path]'
        "}]}]"
    )


class Member(msgspec.Struct, frozen=True):
    """One member of `violations`, described."""

    type: str
    keys: tuple[str, ...]
    """As OPA prints them in a list: ``["path"]``."""
    types: dict[str, str]
    """Types of path, message and container, where they are there."""
    path: tuple[tuple[str, str], ...]
    """Type and printed form of each segment."""


class Look(msgspec.Struct, frozen=True):
    """`violations`, described."""

    type: str
    members: tuple[Member, ...]


def asking_rules(rules: Sequence[Refs], root: str, *, inside: bool = False) -> str:
    """The rules that answer batches: ``reply`` for many objects, ``look`` for one rule and one object.

    Args:
        rules: what to ask; the first is called ``r0``.
        root: ``data``, or where everything of ours was put.
        inside: they stand in the package `root`, not in a package of their own below it.
    """
    head = f"{ASK}." if inside else ""
    lines = [
        f'{head}reply := {{"stamp": {root}.{STAMP}, "answers": {root}.{ASK}.answers}}',
        "",
        f"{head}answers := [[i, r] |",
        "\tsome i, o in input.objects",
        "\trules := input.sets[o.s]",
        f"\tr := [{root}.{ASK}.q[k] | some k in rules] with input as o.v",
        "]",
        "",
        f"{head}look := found if {{",
        "\trule := input.rule",
        f"\tfound := {root}.{ASK}.l[rule] with input as input.object",
        "}",
        "",
    ]
    for number, refs in enumerate(rules):
        lines += [f"{head}q.r{number} := {answer(refs)}", f"{head}l.r{number} := {close_look(refs)}"]
    return "\n".join(lines) + "\n"


class Asked(msgspec.Struct, frozen=True):
    """One rule in a free query."""

    refs: Refs
    inventory: bool
    """It may read ``data.inventory``."""


def batch_query(sets: Iterable[tuple[str, Sequence[Asked]]]) -> str:
    """A query that asks what `module` would, for servers where nothing may be put.

    Each set ``s0`` gives one variable with rows ``[place, [answers], [answers of rules that see the inventory]]``. What
    ``with`` puts in place is bound to a variable first: inside a comprehension of a free query, OPA would evaluate
    ``with input as o.v`` in the new input, find nothing, and every rule would judge nothing. The answers stand in a
    comprehension of their own, because OPA gives each part of a plain list its own ``with``, and library rules would be
    evaluated once for each rule instead of once for each object.
    """
    return "\n".join(
        f'{name} = [[i, r, w] | some i, o in input.objects; o.s == "{name}"; v := o.v; inv := input.inventory; '
        f"r := [y | y := [{', '.join(answer(rule.refs) for rule in rules if not rule.inventory)}]] "
        "with input as v; "
        f"w := [y | y := [{', '.join(answer(rule.refs) for rule in rules if rule.inventory)}]] "
        "with input as v with data.inventory as inv]"
        for name, rules in sets
    )


def look_query(refs: Refs) -> str:
    """`close_look` as a query about ``input.object``."""
    return (
        "v := input.object; inv := input.inventory; "
        f"look = {close_look(refs)} with input as v with data.inventory as inv"
    )
