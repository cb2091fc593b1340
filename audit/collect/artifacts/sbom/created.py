"""When a document was made, and how long ago that is."""

from __future__ import annotations

import datetime as dt
from typing import Any

from audit.collect.artifacts.sbom.problems import short

_TOLERANCE = dt.timedelta(days=1)
"""Clocks differ, and a date without a zone may be tomorrow's."""


def created_facts(value: str | None, now: dt.datetime) -> dict[str, Any]:
    """When it was made: ``known``, ``absent``, ``unreadable`` or ``future``, and the age in whole days."""
    if value is None:
        return {"status": "absent", "value": "", "age_days": None}
    try:
        moment = dt.datetime.fromisoformat(value.strip())
    except ValueError:
        return {"status": "unreadable", "value": short(value), "age_days": None}
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    if moment > now + _TOLERANCE:
        return {"status": "future", "value": short(value), "age_days": None}
    return {"status": "known", "value": short(value), "age_days": max(0, (now - moment).days)}
