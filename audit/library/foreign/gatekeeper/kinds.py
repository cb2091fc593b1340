"""Kinds named in a match block that no server has: a constraint for them matches nothing, and nobody says so."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from audit.model.api_resources import BUILT_IN_GROUPS, built_in_kinds
from audit.model.subject import kind_key


def unknown_kinds(match: Mapping[str, Any]) -> dict[str, str]:
    """Kinds that cannot exist, each with a hint.

    Only groups of Kubernetes itself are known; a kind in any other group may well be there.
    """
    known = built_in_kinds()
    unknown: dict[str, str] = {}
    for entry in match.get("kinds", []):
        groups = entry.get("apiGroups") or ["*"]
        for kind in entry.get("kinds") or ["*"]:
            if kind == "*" or any(kind_key(group, kind) in known for group in groups):
                continue
            names = sorted({key.rpartition("/")[2] for key in known})
            if "*" in groups:
                # A custom resource may have the name; a near miss of a built-in one is a typing error all the same.
                close = [] if kind in names else difflib.get_close_matches(kind, names, n=1, cutoff=0.87)
                if close:
                    unknown[kind] = f"; did you mean {close[0]}?"
            elif all(group in BUILT_IN_GROUPS or _no_domain(group) for group in groups):
                unknown[" or ".join(kind_key(group, kind) for group in groups)] = _hint(kind, names, known)
    return unknown


def _no_domain(group: str) -> bool:
    """Whether a group is none of Kubernetes' own and no domain name, as those of custom kinds are: `core`, say."""
    return "." not in group and group != "extensions"


def _hint(kind: str, names: list[str], known: Mapping[str, Any]) -> str:
    same = sorted(key for key in known if key.rpartition("/")[2] == kind)
    if same:
        return f"; did you mean {' or '.join(same)}?"
    close = difflib.get_close_matches(kind, names, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""
