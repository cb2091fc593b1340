"""Kinds that an API server serves."""

from __future__ import annotations

import msgspec

from audit.model.subject import kind_key


class ServedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that can be listed."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def key(self) -> str:
        """Kind key."""
        return kind_key(self.group, self.kind)

    @property
    def path(self) -> str:
        """Path of its list over all namespaces."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/{self.plural}"


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What a server serves, and the groups it can't speak for."""

    kinds: tuple[ServedKind, ...]
    """Sorted by key."""
    stale: tuple[str, ...] = ()
    """Groups whose own server doesn't answer: their kinds are not known."""
