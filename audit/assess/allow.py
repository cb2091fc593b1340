"""Which gaps their owner tolerates. A tolerated gap stays indeterminate and printed; it only spares exit code 3."""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Iterable, Sequence

import msgspec

from audit.model.acceptance import AllowedGap
from audit.model.gap import Gap


def mark_allowed(gaps: Iterable[Gap], allowed: Sequence[AllowedGap], now: dt.datetime) -> tuple[Gap, ...]:
    """The gaps with `allowed` set where a live entry names their kind and source."""
    live = [entry for entry in allowed if now < entry.expires]
    return tuple(
        msgspec.structs.replace(gap, allowed=True) if any(_names(entry, gap) for entry in live) else gap
        for gap in gaps
    )


def _names(entry: AllowedGap, gap: Gap) -> bool:
    return entry.kind == gap.kind.value and fnmatch.fnmatchcase(gap.source, entry.source)
