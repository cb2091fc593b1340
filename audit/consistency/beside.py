"""In what one form of a policy is unlike others: weaker, wider, stricter, or only different."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audit.consistency.book import Variant
from audit.consistency.form import Form
from audit.consistency.strength import Atom, Lever, not_covered, rule_of
from audit.model.canonical import canonical_json
from audit.model.consistency import PolicyChange

_MOST_PLACES = 6
_TEXT = 200
_NOTHING = object()


class Beside:
    """What all forms of a policy have in common, to hold each of them against it.

    A setting is weaker when any of the others acts harder there, and a form is wider when it lets through what any of the
    others does not. So it makes no difference which of them came first, or how many there are.

    Args:
        variants: the forms; a form may be held against a `Beside` that it is a part of.
    """

    def __init__(self, variants: Sequence[Variant]) -> None:
        strengths = [one.strength for one in variants]
        places = {place for one in strengths for place in one.levers}
        self._levers = {
            place: _ends([one.levers[place] for one in strengths if place in one.levers]) for place in places
        }
        let = frozenset[Atom]().union(*(one.lets for one in strengths))
        self._rules = rules = frozenset[str]().union(*(one.rules for one in strengths))
        somewhere_not = {
            atom for one in strengths for atom in not_covered(let, one.lets) if one.speaks_of(atom, rules)
        }
        self._let_everywhere = let - somewhere_not
        self._covered = frozenset[Atom]().union(*(one.covers for one in strengths))

    def changes(self, here: Variant) -> tuple[PolicyChange, ...]:
        """What makes a form weaker, wider or stricter, worst first."""
        found = [*self._moved(here), *self._wider(here)]
        return tuple(sorted(found, key=lambda one: (_ORDER[one.kind], one.place, one.reference, one.here)))

    def _moved(self, here: Variant) -> Iterator[PolicyChange]:
        for place, lever in here.strength.levers.items():
            if place not in self._levers:
                continue
            softest, hardest = self._levers[place]
            if hardest.rank > lever.rank:
                yield PolicyChange(kind="weakened", place=place, reference=hardest.word, here=lever.word)
            elif softest.rank < lever.rank:
                yield PolicyChange(kind="stricter", place=place, reference=softest.word, here=lever.word)

    def _wider(self, here: Variant) -> Iterator[PolicyChange]:
        only_here = here.strength.rules - self._rules
        for atom in not_covered(here.strength.lets, self._let_everywhere):
            if rule_of(atom) in only_here:
                continue  # what a further rule passes over was passed over before
            yield PolicyChange(kind="widened", place=atom[0], here=_named(atom))
        for atom in not_covered(self._covered, here.strength.covers):
            yield PolicyChange(kind="widened", place=atom[0], reference=_named(atom))


_ORDER = {"weakened": 0, "widened": 1, "stricter": 2, "differs": 3}


def _ends(levers: list[Lever]) -> tuple[Lever, Lever]:
    ordered = sorted(levers, key=lambda lever: (lever.rank, lever.word))
    return ordered[0], ordered[-1]


def _named(atom: Atom) -> str:
    """The fields of an atom, without those that say nothing."""
    parts = [part for part in atom[1:] if part not in ("", "*")] or ["*"]
    return " ".join(parts)[:_TEXT]


def differences(reference: Form, here: Form) -> tuple[PolicyChange, ...]:
    """The first places in which two forms are unlike."""
    found: list[PolicyChange] = []
    for place, before, after in _unlike(reference, here, ""):
        found.append(
            PolicyChange(kind="differs", place=place[:_TEXT], reference=_shown(before), here=_shown(after))
        )
        if len(found) == _MOST_PLACES:
            break
    return tuple(found)


def _unlike(before: Any, after: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inside = f"{place}.{name}" if place else name
            yield from _unlike(before.get(name, _NOTHING), after.get(name, _NOTHING), inside)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, two) in enumerate(zip(before, after, strict=True)):
            yield from _unlike(one, two, f"{place}[{index}]")
    elif before is _NOTHING or after is _NOTHING or canonical_json(before) != canonical_json(after):
        yield place, before, after


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return ""
    return (value if isinstance(value, str) else canonical_json(value).decode())[:_TEXT]
