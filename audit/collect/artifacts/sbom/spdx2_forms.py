"""SPDX 2 in YAML and in XML: the JSON form in other clothes."""

from __future__ import annotations

import re
from typing import Any

from audit.collect.artifacts.sbom import schemas
from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.typing_by_schema import typed
from audit.collect.artifacts.sbom.xml_document import Element, parse_xml
from audit.collect.artifacts.sbom.yaml_document import parse_yaml

_VERSION = re.compile(r"SPDX-(2\.\d)")


def from_yaml(data: bytes) -> dict[str, Any]:
    """The JSON form.

    Raises:
        FormatError: it is no YAML document, or one that is refused.
    """
    return _typed(parse_yaml(data))


def from_xml(data: bytes) -> dict[str, Any]:
    """The JSON form.

    Raises:
        FormatError: it is no XML document, or one that is refused.
    """
    root = parse_xml(data)
    if root.name != "Document":
        raise FormatError("not_an_object", f"the root element is {root.name}, not Document")
    value = _value(root)
    return _typed(value) if isinstance(value, dict) else {}


def _value(element: Element) -> Any:
    if not element.children:
        return element.text.strip()
    found: dict[str, Any] = {}
    for child in element.children:
        name, value = child.name, _value(child)
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def _typed(value: dict[str, Any]) -> dict[str, Any]:
    match = _VERSION.fullmatch(str(value.get("spdxVersion", "")))
    version = match.group(1) if match and schemas.known("SPDX", match.group(1)) else "2.3"
    root = schemas.schema("SPDX", version)
    found: dict[str, Any] = typed(value, root, root)
    return found
