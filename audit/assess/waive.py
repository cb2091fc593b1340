"""Which failures a live waiver accepts. A waiver never changes an outcome; an ended one accepts nothing and is counted.

Names are literal. What a waiver leaves out: no cluster means every cluster; no container means the whole subject; no
namespace means a subject without one, so that a waiver never covers more than its author wrote. The one star that a
name may end in stands in subjects too, for a generated suffix, and is compared like any other letter.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from audit.model.acceptance import Waiver
from audit.model.finding import Violation
from audit.model.result import WaiverState
from audit.model.subject import SubjectRef


class WaiverIndex:
    """Matches failed pairs against waivers, and counts what each waiver did.

    Args:
        waivers: as loaded; of several that fit, the first counts.
        now: aware, UTC: the moment at which waivers have ended or not.
        rule_of: rules whose pairs became part of another rule's, to that rule: a waiver of either is one of the pair.
    """

    def __init__(
        self, waivers: Iterable[Waiver], now: dt.datetime, rule_of: Mapping[str, str] | None = None
    ) -> None:
        self._waivers = tuple(waivers)
        self._now = now
        self._by_rule: dict[str, dict[tuple[str, str], list[Waiver]]] = {}
        for waiver in self._waivers:
            named = self._by_rule.setdefault((rule_of or {}).get(waiver.rule, waiver.rule), {})
            named.setdefault((waiver.namespace, waiver.name), []).append(waiver)
        self._matched: dict[str, int] = {}
        self._partly: dict[str, int] = {}

    def match(self, rule_id: str, subject: SubjectRef, violations: Sequence[Violation]) -> str | None:
        """Id of the live waiver that accepts a failed pair, None when any of its violations is not accepted.

        Several waivers may share the work, one per container; the first one's id is given. Costs one look-up when no
        waiver names the rule.
        """
        named = self._by_rule.get(rule_id)
        if named is None:
            return None
        fitting = [w for w in named.get((subject.namespace, subject.name), ()) if _names(w, subject)]
        if not fitting:
            return None
        live = [waiver for waiver in fitting if waiver.is_live(self._now)]
        used = _cover(live, violations)
        if used:
            self._count(self._matched, used)
            return used[0].id
        ended = _cover(fitting, violations)
        if ended:
            self._count(self._matched, [waiver for waiver in ended if not waiver.is_live(self._now)])
        self._count(self._partly, [w for w in live if any(_accepts(w, v) for v in violations)])
        return None

    def states(self) -> tuple[WaiverState, ...]:
        """Each waiver, in the order loaded, with what it did and what its owner should know."""
        return tuple(
            WaiverState(
                waiver=waiver,
                live=waiver.is_live(self._now),
                matched=self._matched.get(waiver.id, 0),
                warning=self._warning(waiver),
            )
            for waiver in self._waivers
        )

    def _warning(self, waiver: Waiver) -> str:
        warnings = []
        if waiver.expires is None:
            warnings.append("no end date")
        if not self._matched.get(waiver.id):
            partly = self._partly.get(waiver.id)
            warnings.append(
                f"covers only a part of what fails, pairs: {partly}" if partly else "matched nothing"
            )
        return "; ".join(warnings)

    @staticmethod
    def _count(counts: dict[str, int], waivers: Iterable[Waiver]) -> None:
        for waiver in waivers:
            counts[waiver.id] = counts.get(waiver.id, 0) + 1


def _names(waiver: Waiver, subject: SubjectRef) -> bool:
    """Whether the waiver is about this subject; namespace and name are compared by the index."""
    if waiver.cluster and waiver.cluster != subject.cluster:
        return False
    return not waiver.kind or waiver.kind in (subject.kind, subject.kind_key)


def _accepts(waiver: Waiver, violation: Violation) -> bool:
    return not waiver.container or waiver.container == violation.container


def _cover(waivers: Sequence[Waiver], violations: Sequence[Violation]) -> list[Waiver]:
    """The waivers that together accept every violation, in the order needed; empty when they do not."""
    used: list[Waiver] = []
    for violation in violations or (Violation(),):
        waiver = next((waiver for waiver in waivers if _accepts(waiver, violation)), None)
        if waiver is None:
            return []
        if waiver not in used:
            used.append(waiver)
    return used
