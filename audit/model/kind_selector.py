"""Kyverno's way to name kinds: ``Pod``, ``apps/v1/Deployment``, ``Pod/exec``, ``*/*``."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(v\d((alpha|beta)\d)?|\*)\Z")


def parse_kind_selector(selector: str) -> tuple[str, str, str, str]:
    """(group, version, kind, subresource) with wildcards, as Kyverno reads ``apps/v1/Deployment`` or ``Pod/exec``.

    Follows ``ParseKindSelector`` of Kyverno's pkg/utils/kube/kind.go.
    """
    parts = selector.split("/")
    parts = [*parts[:-1], *parts[-1].split(".")]
    match parts:
        case [kind]:
            return "*", "*", kind, ""
        case ["*", "*"]:
            return "*", "*", "*", "*"
        case ["*", sub] if sub == sub.lower():
            return "*", "*", "*", sub
        case [first, second] if _VERSION.match(first):
            return "*", first, second, ""
        case [kind, sub]:
            return "*", "*", kind, sub
        case [first, second, third] if _VERSION.match(first):
            return "*", first, second, third
        case [group, version, kind]:
            return group, version, kind, ""
        case [group, version, kind, sub]:
            return group, version, kind, sub
    return "", "", "", ""
