"""Gaps: what should have been looked at and was not."""

from __future__ import annotations

import enum

import msgspec

from audit.model.subject import kind_listed


class GapKind(enum.Enum):
    """Why it was not looked at. Forbidden, unreachable and absent are three different reasons."""

    UNREADABLE = "unreadable"
    """A file or document that could not be read or parsed."""
    TOO_LARGE = "too_large"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    ABSENT = "absent"
    """Registered, but nothing is there."""
    NOT_RENDERED = "not_rendered"
    """A Helm chart or kustomization whose tool is missing or failed."""
    UNKNOWN_TEMPLATE = "unknown_pod_template"
    """A pod template at a place no data file names."""
    POLICY = "policy"
    """A policy source that could not be loaded or run."""
    INTERRUPTED = "interrupted"
    """Stopped by a signal, a deadline or a full disk before it was looked at."""
    NOT_COLLECTED = "not_collected"
    """The rules need it, and whoever made the snapshot did not ask for it."""
    UNTRUSTED = "untrusted"
    """A snapshot that is not signed as required, or not what its manifest says."""
    LATE = "late"
    """Older than its cluster allows."""
    DUPLICATE = "duplicate"
    """Another snapshot of the same cluster was judged."""
    FOREIGN = "foreign"
    """A cluster that the register doesn't know, or another one than it means."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was not looked at."""

    kind: GapKind
    cluster: str
    source: str
    """File, folder, context or policy it concerns."""
    reason: str
    """One sentence, safe to print."""
    line: int | None = None
    kinds: tuple[str, ...] | None = None
    """`kind_key`s that may be hidden behind it; None means unknown, which intersects everything; empty means nothing."""
    hint: str = ""
    """How to close it, for example the tool to install."""
    allowed: bool = False
    """Listed in ``allow_gaps``: stays indeterminate and printed, but does not make the run incomplete."""

    def may_hide(self, kinds: tuple[str, ...]) -> bool:
        """Whether a subject of one of these kinds may be behind the gap. Empty `kinds` means every kind."""
        if self.kinds == ():
            return False  # of a cluster that nobody registered
        if self.kinds is None or not kinds:
            return True
        if not set(self.kinds).isdisjoint(kinds):
            return True
        # Either side may speak of a kind in any group, or of a whole group.
        if not any("*" in kind for kind in (*kinds, *self.kinds)):
            return False
        return any(kind_listed(kind, kinds) for kind in self.kinds) or any(
            kind_listed(kind, self.kinds) for kind in kinds
        )


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth saying that hides nothing, for example an empty document."""

    source: str
    code: str
    message: str
    line: int | None = None
    document: int = 0
    count: int = 1
    """Files or documents it speaks of."""
