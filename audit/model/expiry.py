"""Moments written by people: when a waiver, a statement or a tolerated gap ends.

One rule everywhere, whatever the machine's zone: a date alone is good through the end of that day in UTC; a time
needs a zone; the moment of expiry itself is expired.
"""

from __future__ import annotations

import datetime as dt
import re

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?\s?([Zz]|[+-]\d{2}:?\d{2})?\Z", re.ASCII
)


def expiry_of(written: object) -> dt.datetime:
    """The exclusive end, aware and in UTC, of what was written.

    Args:
        written: text (``2026-03-29`` or ``2026-03-29T02:30:00+02:00``), or the date or datetime a YAML reader
            made of such text.

    Raises:
        ValueError: not a moment of the calendar, or a time without a zone. The message is one sentence.
    """
    if isinstance(written, dt.datetime):
        return _aware(written)
    if isinstance(written, dt.date):
        return _end_of(written)
    if not isinstance(written, str):
        raise ValueError("write a date such as 2026-12-31")  # noqa: TRY004  # one error type for every bad value
    text = written.strip()
    try:
        if _DATE.match(text):
            return _end_of(dt.date.fromisoformat(text))
        if _TIME.match(text):
            return _aware(dt.datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", "").upper()))
    except (ValueError, OverflowError) as error:
        if isinstance(error, _NoZoneError):
            raise
        raise ValueError(f"{text} is not in the calendar") from error
    raise ValueError("write a date such as 2026-12-31, or a time with its zone such as 2026-12-31T18:00:00Z")


def moment_of(written: str) -> dt.datetime:
    """The moment, aware and in UTC, of a time with its zone. A date alone is a whole day, and no moment.

    Raises:
        ValueError: it is none. The message is one sentence.
    """
    if not _TIME.match(written.strip()):
        raise ValueError("write a time with its zone such as 2026-12-31T18:00:00Z")
    return expiry_of(written)


class _NoZoneError(ValueError):
    """A time of day without a zone means different moments on different machines."""


def _end_of(day: dt.date) -> dt.datetime:
    if day == dt.date.max:
        # People write 9999-12-31 for "never"; the calendar has no day after it.
        return dt.datetime.max.replace(tzinfo=dt.UTC)
    midnight = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    return midnight + dt.timedelta(days=1)


def _aware(moment: dt.datetime) -> dt.datetime:
    if moment.tzinfo is None:
        raise _NoZoneError("a time needs its zone: add Z or an offset such as +02:00")
    return moment.astimezone(dt.UTC)
