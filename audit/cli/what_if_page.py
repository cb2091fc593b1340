"""Decisions that flip, for a screen and for other programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.model.result import AssessmentResult
from audit.record.flips import Counts, Flip, FlipKind
from audit.record.population import original

_SHOWN = 100
"""Flips of a kind on the screen; JSON has more."""
_KEPT = 100_000
_TITLES = {
    FlipKind.NEW_FAILURE: ("Newly failing", "bold red"),
    FlipKind.GONE_FAILURE: ("No longer failing", "bold green"),
    FlipKind.UNDECIDED: ("Newly undecided", "bold yellow"),
    FlipKind.DECIDED: ("Newly decided", "bold"),
    FlipKind.OTHER: ("Otherwise different", "bold"),
}
_NOT_ASKED = "not asked"


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one side's result."""

    rules: int
    statuses: dict[str, str]
    """Control to its status on the fleet."""
    ratios: dict[str, str]
    """Framework to its strict ratio."""
    incomplete: tuple[str, ...]

    @classmethod
    def of(cls, result: AssessmentResult) -> Side:
        """Take it from a result."""
        gaps = [f"{gap.source}: {gap.reason}" for gap in result.gaps if not gap.allowed]
        errors = [] if result.complete or gaps else ["pairs could not be judged, or nothing was asked"]
        return cls(
            rules=result.record.denominator.rules,
            statuses={f"{row.framework}:{row.id}": row.fleet.status.value for row in result.controls},
            ratios={
                score.framework: f"{score.strict.numerator}/{score.strict.denominator}"
                for score in result.scores
            },
            incomplete=tuple(dict.fromkeys((*gaps, *errors))),
        )


class WhatIfPage:
    """Collects flips, and prints afterwards."""

    def __init__(self) -> None:
        self.sides: list[Side] = []
        self._found: dict[FlipKind, list[Flip]] = {kind: [] for kind in FlipKind}
        self._totals: Counter[FlipKind] = Counter()
        self._counts = Counts()

    @property
    def total(self) -> int:
        """Number of flips."""
        return self._totals.total()

    @property
    def incomplete(self) -> tuple[str, ...]:
        """What either side could not look at."""
        return tuple(dict.fromkeys(text for side in self.sides for text in side.incomplete))

    def take(self, flip: Flip) -> None:
        """Take one flip; of very many, the first ones are kept and all are counted."""
        self._totals[flip.kind] += 1
        if len(self._found[flip.kind]) < _KEPT:
            self._found[flip.kind].append(flip)

    def finish(self, counts: Counts) -> None:
        """Take what is known at the end."""
        self._counts = counts

    def plain(self) -> dict[str, Any]:
        """All of it for other programs."""
        first, second = self.sides
        return {
            "flips": [_plain(flip) for kind in FlipKind for flip in self._found[kind]],
            "totals": {kind.value: self._totals[kind] for kind in FlipKind},
            "same": self._counts.same,
            "only_first": self._counts.only_before,
            "only_second": self._counts.only_after,
            "controls": [
                {"control": control, "before": before, "after": after}
                for control, before, after in self._controls()
            ],
            "ratios": {
                framework: {"before": ratio, "after": second.ratios.get(framework, "")}
                for framework, ratio in first.ratios.items()
            },
            "incomplete": list(self.incomplete),
        }

    def show(self, screen: Screen) -> None:
        """All of it for people."""
        for kind, (title, style) in _TITLES.items():
            if not self._totals[kind]:
                continue
            screen.line((title, style), f": {count(self._totals[kind], 'decision')}")
            shown = self._found[kind][:_SHOWN]
            rows = [
                (
                    flip.row.rule,
                    original(flip.row.title),
                    flip.row.cluster,
                    _was(flip.before),
                    _was(flip.after),
                )
                for flip in shown
            ]
            screen.table(("RULE", "OBJECT", "CLUSTER", "BEFORE", "AFTER"), rows)
            if self._totals[kind] > len(shown):
                screen.line(f"and {self._totals[kind] - len(shown):,} more (--json lists them)")
            screen.line("")
        changed = self._controls()
        if changed:
            screen.line(("Controls", "bold"), f": {count(len(changed), 'control')} with another status")
            screen.table(("CONTROL", "BEFORE", "AFTER"), changed)
            screen.line("")
        for text in self.incomplete:
            screen.line(("incomplete", "yellow"), f"  {text}")
        same, one_side = self._counts.same, self._counts.only_before + self._counts.only_after
        screen.line(
            f"{count(self.total, 'decision')} {'flips' if self.total == 1 else 'flip'}, {same:,} are equal; "
            f"{one_side:,} were asked by one side alone and don't fail"
        )

    def _controls(self) -> list[tuple[str, str, str]]:
        first, second = self.sides
        return [
            (control, before, after)
            for control, before in first.statuses.items()
            if (after := second.statuses.get(control, "")) != before
        ]


def _was(outcome: str) -> str:
    return outcome or _NOT_ASKED


def _plain(flip: Flip) -> dict[str, Any]:
    row = flip.row
    return {
        "flip": flip.kind.value,
        **{
            key: original(getattr(row, key))
            for key in ("rule", "cluster", "kind", "namespace", "name", "source")
        },
        "before": flip.before or None,
        "after": flip.after or None,
    }
