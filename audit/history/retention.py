"""Which runs give up their details. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from audit.history.model import Link, Retention
from audit.model.expiry import moment_of


def outlived(links: Iterable[Link], retention: Retention, now: dt.datetime) -> list[int]:
    """Numbers of the runs whose details nothing wants any longer. The newest run of a fleet always keeps its own.

    Args:
        links: all runs that still have details.
        retention: what is wanted.
        now: aware.
    """
    if retention.keeps_all:
        return []
    numbers: list[int] = []
    for runs in _by_fleet(links).values():
        for place, found in enumerate(runs):
            recent = retention.keep_runs is not None and place < retention.keep_runs
            young = retention.keep_days is not None and moment_of(found.run.state_time) > now - dt.timedelta(
                days=retention.keep_days
            )
            if place and not recent and not young:
                numbers.append(found.number)
    return sorted(numbers)


def _by_fleet(links: Iterable[Link]) -> dict[str, list[Link]]:
    """Runs of each fleet, the newest first."""
    fleets: dict[str, list[Link]] = {}
    for found in sorted(links, key=lambda item: (item.run.state_time, item.number), reverse=True):
        fleets.setdefault(found.run.title, []).append(found)
    return fleets
