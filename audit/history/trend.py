"""One number over many runs, and where two runs in a row can't be compared. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from audit.history.model import Link, Ratio, RunRow
from audit.model.assessment import Fraction

RATIOS = {
    "strict": "strict",
    "range-high": "high",
    "with-waivers": "with_waivers",
    "coverage": "coverage",
    "technical-only": "technical_only",
    "attested": "attested",
    "classic": "classic",
}
"""What can be asked for, and the measure that is kept."""
SCOPE = "scope-coverage"
COUNTS: dict[str, Callable[[RunRow], int]] = {
    "open": lambda run: run.open_groups,
    "open-critical": lambda run: run.open_critical,
    "open-high": lambda run: run.open_high,
    "waived": lambda run: run.waived_groups,
    "errors": lambda run: run.error_groups,
    "gaps": lambda run: run.gaps,
    "objects": lambda run: run.objects,
    "pairs": lambda run: run.pairs_answered,
}


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A run's value."""

    number: int
    time: str
    """When it was judged."""
    numerator: int | None
    """Or the count itself; None when the run has no such number."""
    denominator: int | None
    """None for counts."""
    complete: bool
    differs: tuple[str, ...]
    """What this run and the one before don't have in common; empty where the two can be compared."""

    @property
    def fraction(self) -> Fraction | None:
        """None for counts, and where there is no number."""
        if self.numerator is None or self.denominator is None:
            return None
        return Fraction(numerator=self.numerator, denominator=self.denominator)


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A measure over runs, the oldest first."""

    measure: str
    framework: str
    """Empty for what belongs to no framework."""
    title: str
    part: str
    """Function or cluster; empty for the whole."""
    points: tuple[Point, ...]


def ratio_series(measure: str, links: Sequence[Link], ratios: Mapping[int, Iterable[Ratio]]) -> list[Series]:
    """A series for each framework and part.

    Args:
        measure: as asked for.
        links: runs, the oldest first.
        ratios: those of each run that are wanted.
    """
    found: dict[tuple[str, str], dict[int, Ratio]] = {}
    for number, rows in ratios.items():
        for row in rows:
            found.setdefault((row.framework, row.part), {})[number] = row
    known = {item.number for item in links}
    series = []
    for (framework, part), by_run in sorted(found.items()):
        titles = [row.title for number, row in sorted(by_run.items()) if number in known]
        if titles:
            values = {number: (row.numerator, row.denominator) for number, row in by_run.items()}
            points = _points(links, values)
            series.append(
                Series(measure=measure, framework=framework, title=titles[-1], part=part, points=points)
            )
    return series


def scope_series(links: Sequence[Link]) -> Series:
    """Clusters that were reached, of those registered."""
    values = {item.number: (item.run.reached, item.run.clusters) for item in links}
    return Series(measure=SCOPE, framework="", title="", part="", points=_points(links, values))


def count_series(measure: str, links: Sequence[Link]) -> Series:
    """A count over runs."""
    values = {item.number: (COUNTS[measure](item.run), None) for item in links}
    return Series(measure=measure, framework="", title="", part="", points=_points(links, values))


def in_time(links: Iterable[Link], fleet: str) -> list[Link]:
    """Runs of one fleet, the oldest first: by the moment they were judged at, which need not be that of appending."""
    return sorted(
        (item for item in links if item.run.title == fleet),
        key=lambda item: (item.run.state_time, item.number),
    )


def _points(links: Sequence[Link], values: Mapping[int, tuple[int, int | None]]) -> tuple[Point, ...]:
    points = []
    for place, item in enumerate(links):
        numerator, denominator = values.get(item.number, (None, None))
        before = links[place - 1].run.basis if place else item.run.basis
        points.append(
            Point(
                number=item.number,
                time=item.run.state_time,
                numerator=numerator,
                denominator=denominator,
                complete=item.run.complete,
                differs=before.differs_from(item.run.basis),
            )
        )
    return tuple(points)
