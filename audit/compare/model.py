"""What comes of comparing two results."""

from __future__ import annotations

import enum

import msgspec

from audit.model.assessment import Fraction
from audit.model.finding import FindingGroup


class Change(enum.Enum):
    """What happened to a group between two results. A group that vanished is fixed only when its pairs were judged again."""

    REGRESSED = "regressed"
    """Open now; the same pairs passed before."""
    NEW = "new"
    """Open now; of an object or by a rule that was not there before."""
    NEWLY_SEEN = "newly_seen"
    """Open now; before, the pair could not be judged or nobody looked."""
    LOST = "lost"
    """Open before; now nobody can say: the evidence is gone."""
    WAIVED = "waived"
    """Open before, accepted by a waiver now."""
    FIXED = "fixed"
    """Open before; the same pairs were judged again, and this failure is no longer among what is found."""
    REMOVED = "removed"
    """Open before; its objects are no longer there, and nothing hides them."""
    UNCHANGED = "unchanged"
    """Open before and now."""


class GroupChange(msgspec.Struct, frozen=True, kw_only=True):
    """One group and what happened to it."""

    change: Change
    reason: str
    """Why, as a code: ``waiver_ended``, ``left_out``, ``rule_not_asked``, ``cluster_not_reached``, ``gap``, ``error``,
    ``no_population``; else empty."""
    group: FindingGroup
    """As the newer result has it, or the older one where the newer has none."""
    before: int
    """Unwaived failures in the older result."""
    after: int
    """Unwaived failures in the newer result."""


class RatioChange(msgspec.Struct, frozen=True, kw_only=True):
    """Strict ratios of one framework under one profile; None on the side that doesn't have it."""

    framework: str
    title: str
    profile: str
    before: Fraction | None
    after: Fraction | None
    comparable: bool
    """False when the two speak of different things: then there is no difference to state."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, worst first."""

    before: str
    """sha256 of the older result."""
    after: str
    """sha256 of the newer result."""
    differs: tuple[str, ...]
    """What the ratios can't be compared over: ``scope``, ``rules``, ``catalogs``, ``mappings``, ``profile``."""
    groups: tuple[GroupChange, ...]
    ratios: tuple[RatioChange, ...]

    def of(self, *changes: Change) -> tuple[GroupChange, ...]:
        """The groups to which one of these happened."""
        return tuple(item for item in self.groups if item.change in changes)
