"""Texts of XML, YAML and tag-value forms, given the types that the JSON Schema says they have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def resolved(part: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema, its reference followed; references out of the file are left."""
    for _ in range(20):
        reference = part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return part
        found: Any = root
        for key in reference[2:].split("/"):
            found = found.get(key, {})
        part = found
    return part


def scalar(value: str, part: Mapping[str, Any]) -> Any:
    """A text as boolean or number where the schema wants one; the text itself where it is none."""
    kind = part.get("type")
    stripped = value.strip()
    if kind == "boolean":
        return _BOOLEANS.get(stripped.lower(), value)
    if kind == "integer":
        return int(stripped) if stripped.lstrip("+-").isdecimal() and len(stripped) < 20 else value
    if kind == "number":
        try:
            number = float(stripped)
        except ValueError:
            return value
        return number if math.isfinite(number) else value
    return value


def typed(value: Any, part: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """A value whose scalars are all texts, typed; what may be repeated becomes a list."""
    part = resolved(part, root)
    if part.get("type") == "array":
        items = part.get("items", {})
        listed = value if isinstance(value, list) else [value] if value != "" else []
        return [typed(one, items, root) for one in listed]
    if isinstance(value, dict):
        properties = part.get("properties", {})
        return {key: typed(one, properties.get(key, {}), root) for key, one in value.items()}
    if isinstance(value, list):
        return [typed(one, {}, root) for one in value]
    return scalar(value, part) if isinstance(value, str) else value
