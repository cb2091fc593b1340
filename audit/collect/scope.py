"""The only way out of the denominator: what the owner put out of scope, by selector, with a reason."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from typing import Any

import msgspec

from audit.ports import CollectedObject


class OutOfScope(msgspec.Struct, frozen=True, kw_only=True):
    """Objects left out. All parts given must match; ``*`` and ``?`` work in namespace and name."""

    reason: str
    kind: str = ""
    """Kind, or group/Kind."""
    namespace: str = ""
    name: str = ""
    labels: dict[str, str] = {}

    def covers(self, item: CollectedObject) -> bool:
        """Whether the object is left out by this entry."""
        ref = item.ref
        return (
            (not self.kind or self.kind in (ref.kind, ref.kind_key))
            and (not self.namespace or fnmatch.fnmatchcase(ref.namespace, self.namespace))
            and (not self.name or fnmatch.fnmatchcase(ref.name, self.name))
            and (not self.labels or _has_labels(item.raw, self.labels))
        )


def reason_out_of_scope(entries: Iterable[OutOfScope], item: CollectedObject) -> str | None:
    """Reason of the first entry that covers the object, or None when it is in scope."""
    return next((entry.reason for entry in entries if entry.covers(item)), None)


def _has_labels(raw: bytes, wanted: dict[str, str]) -> bool:
    document: Any = msgspec.json.decode(raw)
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return isinstance(labels, dict) and all(labels.get(key) == value for key, value in wanted.items())
