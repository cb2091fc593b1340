"""Rule ids of foreign policies: ``<source>:<package>/<rule>``, stable, and never like one of the project's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from audit.library.policy_source import PolicySource

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_UNNAMED = frozenset({"", ".", ".."})


def source_names(sources: Sequence[PolicySource]) -> list[str]:
    """A name for each source: the given one, else the shortest end of its path that no other source shares."""
    steps = [_steps(source) for source in sources]
    names: list[str] = []
    for index, source in enumerate(sources):
        if source.name:
            names.append(slug(source.name))
            continue
        own = steps[index]
        others = [
            other
            for place, other in enumerate(steps)
            if place != index and not sources[place].name and not sources[place].builtin
        ]
        size = 1
        while size < len(own) and any(other[-size:] == own[-size:] for other in others):
            size += 1
        names.append(slug(".".join(own[-size:])) or "policies")
    return _unique(names)


def _steps(source: PolicySource) -> list[str]:
    text = source.origin.partition("@")[0] + "/" + source.origin.partition("#")[2] if source.origin else ""
    path = PurePosixPath(text or source.label.replace("\\", "/"))
    found = [slug(part) for part in path.parts if slug(part) not in _UNNAMED]
    if not found and not source.origin:
        found = [slug(source.path.resolve().name)]
    if found and found[-1].endswith(".rego"):
        found[-1] = found[-1].removesuffix(".rego")
    return found or ["policies"]


def _unique(names: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return unique


def slug(text: str) -> str:
    """Text with nothing in it that an id, a file name or a table cell would stumble over."""
    return _UNSAFE.sub("-", text).strip("-.")


def rule_id(source: str, package: Sequence[str], rule: str) -> str:
    """``policy:main/deny_root``."""
    return f"{source}:{slug('.'.join(package))}/{slug(rule)}"
