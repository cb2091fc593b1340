"""Label selectors and wildcards, with "unknown" where the labels are not known."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

Tri = bool | None
"""True, False, or None for unknown."""

NAME_LABEL = "kubernetes.io/metadata.name"
"""The one label every namespace has."""


def all_of(values: Iterable[Tri]) -> Tri:
    """Conjunction: one False decides, else one unknown leaves it open."""
    result: Tri = True
    for value in values:
        if value is False:
            return False
        if value is None:
            result = None
    return result


def any_of(values: Iterable[Tri]) -> Tri:
    """Disjunction: one True decides, else one unknown leaves it open."""
    result: Tri = False
    for value in values:
        if value is True:
            return True
        if value is None:
            result = None
    return result


def negated(value: Tri) -> Tri:
    """Unknown stays unknown."""
    return None if value is None else not value


@functools.lru_cache(maxsize=4096)
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = (".*" if char == "*" else "." if char == "?" else re.escape(char) for char in pattern)
    return re.compile("".join(parts), re.DOTALL)


def wildcard(pattern: str, text: str) -> bool:
    """Kyverno's wildcards: ``*`` any text, ``?`` one character; an empty pattern matches empty text only."""
    return _pattern(pattern).fullmatch(text) is not None


def has_wildcard(text: str) -> bool:
    """True when it is a pattern rather than plain text."""
    return "*" in text or "?" in text


def selects(selector: Any, labels: Mapping[str, str] | None, *, wildcards: bool = False) -> Tri:
    """Whether a Kubernetes label selector selects these labels.

    Args:
        selector: ``matchLabels`` and ``matchExpressions``.
        labels: None when they are not known; a namespace's own name is known even then (see `selects_namespace`).
        wildcards: Kyverno's classic policies allow them in ``matchLabels``.
    """
    if labels is None:
        return None
    if not isinstance(selector, Mapping):
        return True
    wanted, expressions = _parts(selector)
    return all(_has(labels, key, value, wildcards=wildcards) for key, value in wanted.items()) and all(
        _expression(labels, entry) for entry in expressions
    )


def _parts(selector: Mapping[str, Any]) -> tuple[dict[str, str], list[Mapping[str, Any]]]:
    wanted, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
    return (
        {k: v for k, v in wanted.items() if isinstance(v, str)} if isinstance(wanted, Mapping) else {},
        [e for e in expressions if isinstance(e, Mapping)] if isinstance(expressions, list) else [],
    )


def _has(labels: Mapping[str, str], key: str, value: str, *, wildcards: bool) -> bool:
    if wildcards and (has_wildcard(key) or has_wildcard(value)):
        return any(wildcard(key, k) and wildcard(value, v) for k, v in labels.items())
    return labels.get(key) == value


def _expression(labels: Mapping[str, str], entry: Mapping[str, Any]) -> bool:
    key, values = str(entry.get("key", "")), entry.get("values")
    values = values if isinstance(values, list) else []
    present = key in labels
    match entry.get("operator"):
        case "In":
            return present and labels[key] in values
        case "NotIn":
            return not present or labels[key] not in values
        case "Exists":
            return present
        case "DoesNotExist":
            return not present
    return False


def selects_namespace(
    selector: Any, name: str, labels: Mapping[str, str] | None, *, wildcards: bool = False
) -> Tri:
    """As `selects`, for the namespace called `name`: unknown labels still leave its name label known."""
    if labels is not None:
        return selects(selector, {NAME_LABEL: name, **labels}, wildcards=wildcards)
    if not isinstance(selector, Mapping):
        return True
    by_name = {NAME_LABEL: name}
    wanted, expressions = _parts(selector)
    verdicts: list[Tri] = [
        _has(by_name, key, value, wildcards=wildcards) if key == NAME_LABEL else None
        for key, value in wanted.items()
    ]
    verdicts += [
        _expression(by_name, entry) if entry.get("key") == NAME_LABEL else None for entry in expressions
    ]
    return all_of(verdicts)
