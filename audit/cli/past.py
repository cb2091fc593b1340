"""Finds the history that a command reads, and the run of it that is meant."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from audit.config.schema import Config
from audit.errors import UsageError
from audit.harmless import reversibly_escaped
from audit.history.address import Address, parse_address
from audit.history.extra import require_extra
from audit.history.trend import in_time
from audit.model.expiry import expiry_of

if TYPE_CHECKING:
    from audit.history.database.reading import Stored
    from audit.history.model import Link


def past_configuration(history: str | None, config: str | None, *, no_config: bool) -> Config:
    """The effective configuration of a command that reads a history."""
    from audit.cli.settings import configuration
    from audit.config.overrides import Overrides

    return configuration(Overrides(config=config, no_config=no_config, history=history))


def past_address(config: Config) -> Address:
    """Where the history is.

    Raises:
        UsageError: nothing says so, or what it needs is not installed.
    """
    if config.history.url is None:
        raise UsageError(
            "no history is named",
            suggestion="give --history URL, set FLEETAUDIT_HISTORY, or write history.url in fleetaudit.yaml",
        )
    address = parse_address(config.history.url)
    require_extra(address)
    return address


@contextlib.contextmanager
def past(history: str | None, config: str | None, *, no_config: bool) -> Iterator[Stored]:
    """The history that is meant, as it is now."""
    from audit.history.database.reading import opened

    with opened(past_address(past_configuration(history, config, no_config=no_config))) as stored:
        yield stored


def one_fleet(links: Sequence[Link], named: str | None) -> list[Link]:
    """Runs of the fleet that is meant, the oldest first.

    Raises:
        UsageError: several are there and none is named, or the one named is not there.
    """
    titles = sorted({link.run.title for link in links})
    title = None if named is None else reversibly_escaped(named)
    if title is None and len(titles) > 1:
        listed = ", ".join(repr(title) for title in titles[:5])
        raise UsageError(
            f"the history holds runs of {len(titles)} fleets", suggestion=f"name one with --fleet: {listed}"
        )
    if title is not None and title not in titles:
        from audit.config.suggest import did_you_mean

        raise UsageError(
            f"the history holds no run of a fleet called {title[:60]!r}",
            suggestion=did_you_mean(title, titles, otherwise="fleetaudit history lists what it holds"),
        )
    return in_time(links, title if title is not None else titles[0]) if titles else []


def run_since(runs: Sequence[Link], since: str) -> Link:
    """The older run of a comparison.

    Args:
        runs: those that may be meant, the oldest first.
        since: ``last``, the number of a run, or a date or time: then the newest run that is as old as that.

    Raises:
        UsageError: there is none.
    """
    if since == "last":
        if not runs:
            raise UsageError(
                "the history holds no earlier run of this fleet",
                suggestion="fleetaudit history lists what it holds",
            )
        return runs[-1]
    if since.isascii() and since.isdigit():
        for run in runs:
            if run.number == int(since[:18]):
                return run
        raise UsageError(
            f"the history holds no earlier run {since[:18]} of this fleet",
            suggestion="fleetaudit history lists what it holds",
        )
    moment = _moment(since)
    old = [run for run in runs if expiry_of(run.run.state_time) <= moment]
    if not old:
        oldest = f"the oldest is of {runs[0].run.state_time}" if runs else "it holds none at all"
        raise UsageError(f"no earlier run of this fleet is as old as {since}", suggestion=oldest)
    return old[-1]


def _moment(since: str) -> dt.datetime:
    try:
        if len(since.strip()) == len("2026-12-01"):
            # What changed since a day is what changed since it began; for an end, a day counts as a whole.
            return expiry_of(since) - dt.timedelta(days=1)
        return expiry_of(since)
    except ValueError as error:
        raise UsageError(
            f"--since: {since[:60]!r} names no run: {error}",
            suggestion="write last, the number of a run, or a date such as 2026-12-01",
        ) from None
