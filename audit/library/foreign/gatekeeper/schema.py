"""Parameter schemas of templates: defaults filled in and parameters checked, as the API server and Gatekeeper do.

Follows ApplyDefaultParams and ValidateCR of the constraint framework (pkg/client): defaults of the structural schema are
applied, a value of the wrong type and a field that the schema does not know make the constraint invalid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

_MAX_DEPTH = 64
_KEPT = frozenset(
    {
        "type",
        "enum",
        "pattern",
        "required",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    }
    | {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
)


def with_defaults(value: Any, schema: Any, depth: int = 0) -> Any:
    """A copy of the value with the schema's defaults in place of what is missing."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        filled = dict(value)
        properties = _mapping(schema.get("properties"))
        for name, inner in properties.items():
            if isinstance(inner, dict) and "default" in inner:
                absent = name not in filled or (filled[name] is None and not inner.get("nullable"))
                if absent:
                    filled[name] = copy.deepcopy(inner["default"])
        others = schema.get("additionalProperties")
        return {
            name: with_defaults(child, properties.get(name, others), depth + 1)
            for name, child in filled.items()
        }
    if isinstance(value, list):
        return [with_defaults(item, schema.get("items"), depth + 1) for item in value]
    return value


def problems(value: Any, schema: Any, *, legacy: bool) -> list[str]:
    """What is wrong with parameters, each with its path; empty when nothing is.

    Args:
        value: parameters with their defaults.
        schema: OpenAPI v3 schema of the template, None when it has none.
        legacy: the template allows fields that its schema does not know.
    """
    if schema is None:
        return [] if legacy or not value else ["parameters: the template declares no parameters"]
    found = (
        []
        if legacy
        else [f"{path}: the template's schema has no such field" for path in _unknown(value, schema)]
    )
    return [*found, *_invalid(value, schema)]


def _invalid(value: Any, schema: Any) -> Iterator[str]:
    import jsonschema_rs  # noqa: PLC0415  # only where a template has a schema

    try:
        validator = jsonschema_rs.Draft4Validator(_draft4(schema))
    except ValueError:
        return  # a schema that no server would take says nothing about the parameters
    for error in validator.iter_errors(value):
        path = ".".join(["parameters", *(str(step) for step in error.instance_path)])
        yield f"{path}: {error.message.splitlines()[0][:300]}"


def _draft4(schema: Any, depth: int = 0) -> Any:
    """The parts of an OpenAPI schema that a JSON Schema validator understands."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return {}
    plain: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if schema.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if schema.get("nullable") and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    if isinstance(schema.get("properties"), dict):
        plain["properties"] = {
            name: _draft4(inner, depth + 1) for name, inner in schema["properties"].items()
        }
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), dict):
            plain[key] = _draft4(schema[key], depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            plain[key] = [_draft4(inner, depth + 1) for inner in schema[key]]
    return plain


def _unknown(value: Any, schema: Any, path: str = "parameters", depth: int = 0) -> Iterator[str]:
    if (
        not isinstance(schema, dict)
        or depth > _MAX_DEPTH
        or schema.get("x-kubernetes-preserve-unknown-fields")
    ):
        return
    if isinstance(value, dict):
        properties = _mapping(schema.get("properties"))
        others = schema.get("additionalProperties")
        for name, child in value.items():
            if name in properties:
                yield from _unknown(child, properties[name], f"{path}.{name}", depth + 1)
            elif others is None or others is False:
                yield f"{path}.{name}"
            else:
                yield from _unknown(child, others, f"{path}.{name}", depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, schema.get("items"), f"{path}[{index}]", depth + 1)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
