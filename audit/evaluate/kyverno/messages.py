"""What Kyverno says about a failure, made into violations with a path into the object."""

from __future__ import annotations

import functools
import re
from typing import Any

from audit.evaluate.kyverno.log_lines import clean
from audit.model.finding import Violation

_AT_PATH = re.compile(r"(?:rule (?P<rule>\S+?)(?:\[\d+\])? )?failed at path (?P<path>/\S*)")
_FORBIDDEN = re.compile(r"\(Forbidden reason: [^()]*(?:\([^()]*\)[^()]*)*\)")
_MAX_MESSAGE = 1_000
_SCALARS = (str, int, float, bool)


def violations_of(message: str, value: dict[str, Any]) -> tuple[Violation, ...]:
    """One violation for each path the message names, else one without a path."""
    text, places = _parsed(message)
    paths: list[tuple[str | int, ...]] = []
    for place in places:
        path = segments(place, value)
        if path not in paths:
            paths.append(path)
    return tuple(
        Violation(path=path, message=text, container=container_of(path, value), seen=scalar_at(path, value))
        for path in paths or [()]
    )


@functools.lru_cache(maxsize=4096)
def _parsed(message: str) -> tuple[str, tuple[str, ...]]:
    """The message as it is shown, and the paths it names. Thousands of objects fail with the same words."""
    return _bounded(sorted_parts(message)), tuple(match["path"] for match in _AT_PATH.finditer(message))


def segments(path: str, value: Any) -> tuple[str | int, ...]:
    """``/spec/containers/0/image/`` as segments: numbers are indexes where the object has a list there.

    Keys with slashes come unescaped; the shortest key of the object that fits wins.
    """
    rest = path.strip("/").split("/") if path.strip("/") else []
    found: list[str | int] = []
    here = value
    while rest:
        if isinstance(here, list) and rest[0].isdigit():
            index = int(rest.pop(0))
            found.append(index)
            here = here[index] if index < len(here) else None
            continue
        length = 1
        if isinstance(here, dict) and rest[0] not in here:
            length = next((n for n in range(2, len(rest) + 1) if "/".join(rest[:n]) in here), 1)
        key = "/".join(rest[:length])
        del rest[:length]
        found.append(key)
        here = here.get(key) if isinstance(here, dict) else None
    return tuple(found)


def container_of(path: tuple[str | int, ...], value: Any) -> str:
    """Name of the container a path goes through, if any."""
    here = value
    name = ""
    for before, segment in zip((None, *path), path, strict=False):
        try:
            here = here[segment]
        except (KeyError, IndexError, TypeError):
            break
        inside = before in ("containers", "initContainers", "ephemeralContainers")
        if inside and isinstance(here, dict) and isinstance(here.get("name"), str):
            name = here["name"]
    return name


def scalar_at(path: tuple[str | int, ...], value: Any) -> Any:
    """The (already redacted) scalar at a path; None when there is none."""
    here = value
    for segment in path:
        try:
            here = here[segment]
        except (KeyError, IndexError, TypeError):
            return None
    return here if path and isinstance(here, _SCALARS) else None


def sorted_parts(message: str) -> str:
    """Pod security messages list what is forbidden in no fixed order; equal inputs must give equal bytes."""
    parts = _FORBIDDEN.findall(message)
    if len(parts) < 2:  # one part has an order
        return message
    iterator = iter(sorted(parts))
    return _FORBIDDEN.sub(lambda _: next(iterator), message)


def _bounded(message: str) -> str:
    line = clean(message, limit=_MAX_MESSAGE)
    return line or "the rule failed without a message"
