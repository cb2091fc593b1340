"""The moment that a run is judged at: now, or the past one that the configuration names."""

from __future__ import annotations

import datetime as dt

import msgspec

from audit.config.schema import Config
from audit.errors import UsageError
from audit.model.expiry import moment_of
from audit.model.gap import Notice
from audit.ports import Clock

JUDGED_AS_OF = "judged_as_of"


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> dt.datetime:
        """Aware, whole seconds."""
        return dt.datetime.now(dt.UTC).replace(microsecond=0)


class FixedClock:
    """One moment, for several results that must differ in nothing but what they are asked to differ in."""

    def __init__(self, moment: dt.datetime) -> None:
        self._moment = moment

    def now(self) -> dt.datetime:
        """Always the same."""
        return self._moment


class Judging(msgspec.Struct, frozen=True):
    """When it is judged, and what is to be said about that."""

    clock: Clock
    notices: tuple[Notice, ...] = ()


def judging(config: Config, clock: Clock) -> Judging:
    """The clock of a run.

    Args:
        config: may name a past moment.
        clock: says when it is now.

    Raises:
        UsageError: the moment is none, has not come yet, or running clusters or registries are asked, which know no
            other than now.
    """
    if config.as_of is None:
        return Judging(clock)
    try:
        moment = moment_of(config.as_of)
    except ValueError as error:
        raise UsageError(str(error), key="as_of") from None
    if moment > clock.now():
        raise UsageError(
            f"{config.as_of} has not come yet", key="as_of", suggestion="name a time that is past"
        )
    if any(member.server is not None for member in config.members()):
        raise UsageError(
            "a running cluster is as it is now, and can't be judged as at another time",
            key="as_of",
            suggestion="judge a snapshot of it",
        )
    if config.registries:
        raise UsageError(
            "a registry has what it has now, and can't be asked as at another time",
            key="as_of",
            suggestion="leave out registries, or judge what cosign save has kept",
        )
    message = (
        f"judged as at {moment:%Y-%m-%d %H:%M} UTC and not as at the time of the run: ages of evidence, and the ends of "
        "waivers, statements and tolerated gaps, count up to then"
    )
    return Judging(
        FixedClock(moment), (Notice(source=config.file or "--as-of", code=JUDGED_AS_OF, message=message),)
    )
