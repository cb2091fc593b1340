"""The clusters of a fleet as dots: one dot a cluster on the scale of its own strict ratio, the fleet as a line."""

from __future__ import annotations

from collections import Counter

import msgspec

from audit.model.assessment import Fraction, FrameworkScore
from audit.model.result import AssessmentResult
from audit.report.numbers import count, percent, share
from audit.report.text import visible
from audit.report.texts import Texts

_PLACES = 80
"""Dots nearer than this part of the scale stand upon each other."""
_STEP = 11
_TALLEST = 12
"""Dots that a stack may have at full spacing; taller ones are pushed together."""
_ENDS = (5, 10, 20, 25, 50, 75, 100)


class Dot(msgspec.Struct, frozen=True):
    """One cluster."""

    x: str
    y: str
    reached: bool


class Tick(msgspec.Struct, frozen=True):
    """A mark of the scale."""

    x: str
    text: str
    anchor: str


class ClusterDots(msgspec.Struct, frozen=True):
    """One framework's picture; its numbers stand in the table of members."""

    title: str
    caption: str
    label: str
    height: int
    base: int
    """Where the scale is drawn."""
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    fleet_x: str
    fleet_anchor: str
    fleet_dx: int
    fleet: str


def cluster_dots(result: AssessmentResult, texts: Texts) -> tuple[ClusterDots, ...]:
    """A picture for each framework that states a ratio for more than one cluster."""
    reached = {cluster.name: cluster.reached for cluster in result.record.clusters}
    pictures = []
    for score in result.scores:
        stated = {name: value for name, value in score.cluster_strict.items() if value.denominator}
        if len(stated) > 1 and score.strict.denominator:
            pictures.append(_picture(score, stated, reached, texts))
    return tuple(pictures)


def _picture(
    score: FrameworkScore, stated: dict[str, Fraction], reached: dict[str, bool], texts: Texts
) -> ClusterDots:
    shares = {name: _percent(value) for name, value in stated.items()}
    end = next(end for end in _ENDS if end >= max(*shares.values(), _percent(score.strict)))
    stacks: Counter[int] = Counter()
    placed: list[tuple[int, int, bool]] = []
    for name, value in sorted(shares.items(), key=lambda item: (item[1], item[0])):
        place = round(value / end * _PLACES)
        placed.append((place, stacks[place], reached.get(name, True)))
        stacks[place] += 1
    tallest = max(stacks.values())
    step = min(_STEP, _STEP * _TALLEST / tallest)
    # Room above for the fleet's name, below for the numbers of the scale.
    base = round(34 + step * tallest)
    fleet = _percent(score.strict) / end
    order = sorted(stated, key=lambda name: (shares[name], name))
    worst, best = order[0], order[-1]
    if shares[worst] == shares[best]:
        told = texts.gettext("each {share}").format(share=share(stated[worst]))
    else:
        told = texts.gettext("worst {worst} ({worst_share}), best {best} ({best_share})").format(
            worst=visible(worst, 80),
            worst_share=share(stated[worst]),
            best=visible(best, 80),
            best_share=share(stated[best]),
        )
    caption = f"{told[:1].upper()}{told[1:]}. " + texts.gettext("One dot a cluster.")
    if not all(reached.get(name, True) for name in stated):
        caption += " " + texts.gettext("Hollow: not reached.")
    title = texts.gettext("{n} clusters, strict ratio of {title}").format(
        n=count(len(stated)), title=visible(score.title)
    )
    return ClusterDots(
        title=title,
        caption=caption,
        label=f"{title}: {told}, {_fleet(score, texts)}.",
        height=base + 22,
        base=base,
        dots=tuple(
            Dot(f"{place * 100 / _PLACES:.2f}%", f"{base - 8 - level * step:.1f}", there)
            for place, level, there in placed
        ),
        ticks=tuple(
            Tick(
                f"{part * 25}%",
                f"{end * part / 4:g}{' %' if part == 4 else ''}",
                {0: "start", 4: "end"}.get(part, "middle"),
            )
            for part in range(5)
        ),
        fleet_x=f"{fleet * 100:.2f}%",
        fleet_anchor="start" if fleet < 0.5 else "end",
        fleet_dx=5 if fleet < 0.5 else -5,
        fleet=_fleet(score, texts),
    )


def _fleet(score: FrameworkScore, texts: Texts) -> str:
    return texts.gettext("fleet {share} ({percent})").format(
        share=share(score.strict), percent=percent(score.strict, texts)
    )


def _percent(value: Fraction) -> float:
    return value.numerator * 100 / value.denominator
