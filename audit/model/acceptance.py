"""What people say: statements about controls, waivers of findings, gaps they tolerate.

Dates: a date alone is good through the end of that day in UTC; a time needs a zone; the moment of expiry is expired.
"""

from __future__ import annotations

import datetime as dt
import enum

import msgspec


class Claim(enum.Enum):
    """What a statement says of its control."""

    MET = "met"
    NOT_MET = "not_met"
    NOT_APPLICABLE = "not_applicable"


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded human claim about one control."""

    id: str
    framework: str
    control: str
    claim: Claim
    author: str
    """Shown as "recorded by NAME" while statements are unsigned."""
    date: dt.date
    expires: dt.datetime
    """Exclusive end, aware, UTC."""
    text: str = ""
    """The claim in words; the reason when not applicable (required then)."""
    evidence: str = ""
    clusters: tuple[str, ...] = ()
    """Empty means the whole fleet."""
    file: str = ""
    line: int | None = None

    def is_live(self, now: dt.datetime) -> bool:
        """True before the moment of expiry."""
        return now < self.expires


class Waiver(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted failure. The finding stays `fail`; the control becomes waived at best."""

    id: str
    rule: str
    owner: str
    reason: str
    expires: dt.datetime | None
    """Exclusive end, aware, UTC; None never ends, which is warned about at load."""
    cluster: str = ""
    """Literal; empty means every cluster."""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    """Literal subject name; required."""
    container: str = ""
    """Literal; empty means the whole subject."""
    file: str = ""
    line: int | None = None

    def is_live(self, now: dt.datetime) -> bool:
        """True before the moment of expiry, or always when it has no end."""
        return self.expires is None or now < self.expires


class AllowedGap(msgspec.Struct, frozen=True, kw_only=True):
    """A gap the owner tolerates until a date; it stays indeterminate and printed."""

    kind: str
    source: str
    """Literal or glob over `Gap.source`."""
    reason: str
    expires: dt.datetime
