"""What readers of results must know: the moment that ages are counted to, and whom the configuration believes."""

from __future__ import annotations

import datetime as dt

import msgspec


class EvidenceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the readers of results."""

    now: dt.datetime | None = None
    """Ages are counted up to this moment; the moment of reading by default."""
    vex_authors: tuple[str, ...] = ()
    """Authors that the rule about vulnerabilities believes: only to say of whom it doesn't. The rule decides."""
    stated_times: dict[str, str] = {}
    """When results were made that don't say it themselves, by pattern of the path."""

    def moment(self) -> dt.datetime:
        """Now, aware."""
        now = self.now or dt.datetime.now(dt.UTC)
        return now if now.tzinfo else now.replace(tzinfo=dt.UTC)
