"""A trend on the screen, as CSV and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audit.cli.screen import Part, Screen
from audit.cli.wording import fraction_words
from audit.history.trend import Point, Series
from audit.record.population import cell

_WIDTH = 30
_EIGHTHS = " ▏▎▍▌▋▊▉█"
COLUMNS = (
    "measure",
    "framework",
    "part",
    "run",
    "time",
    "numerator",
    "denominator",
    "percent",
    "complete",
    "comparable",
    "differs",
)


class TrendPage:
    """Shows series.

    Args:
        series: each over the same runs.
    """

    def __init__(self, series: Sequence[Series]) -> None:
        self._series = series

    def show(self, screen: Screen) -> None:
        """A table with a bar for each run; a line where two neighbours can't be compared."""
        blocks = (screen.stream.encoding or "").lower().startswith("utf")
        if not self._series:
            screen.line("no run")
        for number, series in enumerate(self._series):
            if number:
                screen.line("")
            top = _top(series)
            screen.line((_title(series), "bold"), f", bars from 0 to {_scale(series, top)}")
            for line in _lines(series, top, blocks=blocks):
                screen.line(*line)
            screen.line(_first_and_last(series))

    def csv(self, screen: Screen) -> None:
        """A line for each run, with a head."""
        screen.line(",".join(COLUMNS))
        for series in self._series:
            for place, point in enumerate(series.points):
                row = _plain(series, point, first=place == 0)
                screen.line(",".join(cell(_csv_text(row[name])) for name in COLUMNS), limit=4_000)

    def plain(self) -> list[dict[str, Any]]:
        """The same for programs."""
        return [
            {
                "measure": series.measure,
                "framework": series.framework or None,
                "title": series.title or None,
                "part": series.part or None,
                "points": [
                    {
                        name: content
                        for name, content in _plain(series, point, first=place == 0).items()
                        if name not in {"measure", "framework", "part"}
                    }
                    for place, point in enumerate(series.points)
                ],
            }
            for series in self._series
        ]


def _lines(series: Series, top: int, *, blocks: bool) -> Iterator[list[Part]]:
    values = [_value(series, point) for point in series.points]
    width = max(map(len, values))
    numbers = max(len(str(point.number)) for point in series.points)
    for point, text in zip(series.points, values, strict=True):
        if point.differs:
            yield [(f"  {' ' * numbers} -- other {', '.join(point.differs)}: not comparable --", "yellow")]
        note = "" if point.complete else "  incomplete"
        yield [
            f"  {point.number:>{numbers}}  {point.time}  {text:<{width}}  ",
            (_bar(point, top, blocks=blocks), "cyan"),
            note,
        ]


def _bar(point: Point, top: int, *, blocks: bool) -> str:
    """As long as the value; the whole width is `top`, or all of a fraction."""
    whole = point.denominator if point.denominator is not None else top
    if point.numerator is None or not whole:
        return " " * _WIDTH
    eighths = point.numerator * _WIDTH * 8 // whole
    full, rest = divmod(eighths, 8)
    if not blocks:
        return ("#" * full).ljust(_WIDTH)
    return (_EIGHTHS[8] * full + (_EIGHTHS[rest] if rest else "")).ljust(_WIDTH)


def _title(series: Series) -> str:
    words = [series.title, series.part, series.measure]
    return ", ".join(word for word in words if word)


def _top(series: Series) -> int:
    return max((point.numerator or 0 for point in series.points), default=0)


def _scale(series: Series, top: int) -> str:
    return "100 %" if any(point.denominator is not None for point in series.points) else f"{top:,}"


def _value(series: Series, point: Point) -> str:
    if point.numerator is not None and point.denominator is None:
        return f"{point.numerator:,}"
    return fraction_words(point.fraction, rounded=series.measure == "classic")


def _first_and_last(series: Series) -> str:
    first, last = series.points[0], series.points[-1]
    breaks = sum(bool(point.differs) for point in series.points)
    ends = f"first {_value(series, first)}, last {_value(series, last)}"
    if not breaks:
        return ends
    return f"{ends}; the line breaks {breaks} time{'' if breaks == 1 else 's'}: no difference is stated across a break"


def _plain(series: Series, point: Point, *, first: bool) -> dict[str, Any]:
    fraction = point.fraction
    percent = None
    if fraction is not None:
        percent = fraction.percent_rounded if series.measure == "classic" else fraction.percent_truncated
    return {
        "measure": series.measure,
        "framework": series.framework,
        "part": series.part,
        "run": point.number,
        "time": point.time,
        "numerator": point.numerator,
        "denominator": point.denominator,
        "percent": percent,
        "complete": point.complete,
        "comparable": None if first else not point.differs,
        "differs": list(point.differs),
    }


def _csv_text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, bool):
        return "true" if content else "false"
    return " ".join(content) if isinstance(content, list) else str(content)
