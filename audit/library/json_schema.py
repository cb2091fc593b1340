"""JSON Schemas of the files that users write, made from the structs that read them, for editors and other tools.

``scripts/generate_content_schemas.py`` writes the published copies to ``docs/schema/``. A schema knows shapes only; ids,
dates and meanings are checked by the loaders.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from audit.library.acceptance import StatementEntry, SubjectEntry, WaiverEntry
from audit.library.mappings import MappingHead, MappingRow
from audit.library.twins import TwinRow

_BASE = "https://fleetaudit.dev/schema/"


def content_schemas() -> dict[str, str]:
    """File name of each schema to its text: statements, waivers, twins, and mappings in the full form."""
    head = _entry(MappingHead)
    topics = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
    waiver = _entry(WaiverEntry)
    waiver["properties"]["subject"] = _entry(SubjectEntry)
    return {
        "fleetaudit-statements-v1.schema.json": _file("statements", "Statements", _entry(StatementEntry)),
        "fleetaudit-waivers-v1.schema.json": _file("waivers", "Waivers", waiver),
        "fleetaudit-twins-v1.schema.json": _file("twins", "Twins", _entry(TwinRow)),
        "fleetaudit-mapping-v1.schema.json": _file(
            "mappings",
            "Mapping",
            _entry(MappingRow),
            properties={**head["properties"], "topics": topics},
            required=head["required"],
        ),
    }


def _entry(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """Schema of one struct, written in place; unknown keys are refused, as by the loader."""
    (_,), components = msgspec.json.schema_components([type_], ref_template="{name}")
    inlined: dict[str, Any] = _inline(components[type_.__name__], components)
    inlined["additionalProperties"] = False
    return inlined


def _inline(node: Any, components: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, components) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline(components[node["$ref"]], components)
    return {key: _inline(value, components) for key, value in node.items() if key not in {"title", "default"}}


def _file(
    key: str,
    title: str,
    entry: dict[str, Any],
    *,
    properties: dict[str, Any] | None = None,
    required: list[str] | None = None,
) -> str:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{_BASE}fleetaudit-{title.lower()}-v1.schema.json",
        "title": f"{title} of fleetaudit",
        "type": "object",
        "properties": {**(properties or {}), key: {"type": "array", "items": entry}},
        "required": [*(required or []), key],
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
