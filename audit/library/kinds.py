"""Kinds that a rule names: those that no object can ever have are refused, because such a rule would judge nothing."""

from __future__ import annotations

import difflib

from audit.model.api_resources import BUILT_IN_GROUPS, built_in_kinds
from audit.model.subject import CLUSTER_GROUP, kind_key

_LEGACY_GROUPS = frozenset({"extensions"})
"""Served once, and still found in manifests."""


def impossible_kind(group: str, kind: str) -> tuple[str, str] | None:
    """Why no object can have this group and kind, and what was meant, perhaps; None when one can.

    Custom kinds can't be known. Their group is a domain name, though, and the groups of Kubernetes itself are known whole.
    """
    if "*" in group or "*" in kind:
        return "a wildcard is not understood here", "list each group and kind, or use match.pod_templates"
    if not kind[:1].isupper() or not kind.isalnum():
        return f"{kind!r} is no kind", _meant(kind)
    if group == CLUSTER_GROUP or group in _LEGACY_GROUPS:
        return None
    if group in BUILT_IN_GROUPS:
        if kind_key(group, kind) in built_in_kinds():
            return None
        return f"group {group or 'core'!r} has no kind {kind}", _meant(kind)
    if "." not in group:
        return f"there is no API group {group!r}", _meant(kind)
    return None


def _meant(kind: str) -> str:
    by_name: dict[str, list[str]] = {}
    for key in built_in_kinds():
        by_name.setdefault(key.rpartition("/")[2].lower(), []).append(key)
    close = difflib.get_close_matches(kind.lower(), by_name, n=1, cutoff=0.7)
    found = by_name[close[0]] if close else []
    return f"did you mean {' or '.join(sorted(found))}?" if found else "see kubectl api-resources"
