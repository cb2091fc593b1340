"""CycloneDX in XML, brought into the JSON form with the JSON Schema as the guide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.collect.artifacts.sbom import schemas
from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.typing_by_schema import resolved, scalar
from audit.collect.artifacts.sbom.xml_document import Element, namespace, parse_xml

_NAMESPACE = "http://cyclonedx.org/schema/bom/"
_CONTENT = ("content", "value", "text", "definition")
"""Keys under which JSON keeps the text of an element that has attributes, too."""
_RENAMED = {"content-type": "contentType"}
_NOT_CONVERTED = frozenset(
    {
        "cryptoProperties",
        "declarations",
        "definitions",
        "formulation",
        "patents",
        "patentAssertions",
        "evidence",
        "Signature",
    }
)
"""Parts whose two forms differ too much: they are left out of the check, and said to be."""


def from_xml(data: bytes) -> tuple[dict[str, Any], list[str]]:
    """The JSON form, and the parts that were left out. What has no place in it is kept under its name, for the schema to find.

    Raises:
        FormatError: it is no XML document, one that is refused, or in a namespace of no version.
    """
    root = parse_xml(data)
    version = namespace(root.tag).removeprefix(_NAMESPACE)
    if root.name != "bom" or not namespace(root.tag).startswith(_NAMESPACE):
        raise FormatError("not_an_object", f"the root element is {root.name}, not a CycloneDX bom")
    schema = schemas.schema("CycloneDX", version if schemas.known("CycloneDX", version) else "1.6")
    found: dict[str, Any] = {"bomFormat": "CycloneDX", "specVersion": version}
    converter = _Converter(schema)
    found |= converter.mapping(root, schema)
    found.setdefault("version", 1)
    return found, sorted(converter.left_out)


class _Converter:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self.left_out: set[str] = set()

    def mapping(self, element: Element, part: Mapping[str, Any]) -> dict[str, Any]:
        properties = part.get("properties", {})
        found: dict[str, Any] = {}
        for name, value in element.attributes.items():
            key = _RENAMED.get(name, name)
            # The XML schema lets attributes of other worlds stand anywhere.
            if properties and key not in properties:
                continue
            found[key] = scalar(value, resolved(properties.get(key, {}), self._root))
        for child in _own(element):
            self._add(found, child, properties)
        words = element.text if not element.children else ""
        if words.strip():
            key = next((key for key in _CONTENT if key in properties and key not in found), "content")
            found[key] = words
        return found

    def _add(self, found: dict[str, Any], child: Element, properties: Mapping[str, Any]) -> None:
        name = _RENAMED.get(child.name, child.name)
        if name not in properties and name.removesuffix("s") in properties:
            name = name.removesuffix("s")
        if name in _NOT_CONVERTED:
            self.left_out.add(name)
            return
        if name == "licenses":
            found[name] = [self._choice(one) for one in _own(child)]
            return
        part = self._chosen(child, resolved(properties.get(name, {}), self._root))
        if _is_list(part):
            found.setdefault(name, []).extend(self._items(child, part))
        elif name in found:
            # Twice where once is allowed: a list, which the schema refuses.
            found[name] = [found[name], self.value(child, part)]
        else:
            found[name] = self.value(child, part)

    def value(self, element: Element, part: Mapping[str, Any]) -> Any:
        part = self._chosen(element, resolved(part, self._root))
        if _is_list(part):
            return self._items(element, part)
        if (
            set(element.attributes) == {"ref"}
            and "ref" not in part.get("properties", {})
            and not element.children
        ):
            return element.attributes["ref"]
        if element.children or (element.attributes and part.get("type") != "string") or "properties" in part:
            return self.mapping(element, part)
        return scalar(element.text, part)

    def _items(self, element: Element, part: Mapping[str, Any]) -> list[Any]:
        """The items that an element wraps, or itself, where XML repeats it without a wrapper."""
        items = resolved(part.get("items", {}), self._root)
        inner = self._chosen(element, items).get("properties", {})
        children = _own(element)
        if "dependsOn" in inner:
            return [_dependency(child) for child in children]
        if element.name == "data" and "flow" in inner:
            return [self._dataflow(child, items) for child in children]
        if not children and not element.text.strip() and not element.attributes:
            return []
        wraps = all(_plural(element.name, child.name) for child in children)
        if children and (wraps or not any(child.name in inner for child in children)):
            return [self.value(child, items) for child in children]
        return [self.value(element, items)]

    def _dataflow(self, element: Element, part: Mapping[str, Any]) -> dict[str, Any]:
        """The classification, which carries the direction, alone or with what is said of it."""
        if element.name == "classification":
            return {**element.attributes, "classification": element.text.strip()}
        found = self.mapping(element, part)
        for child in _own(element):
            if child.name == "classification":
                found |= self._dataflow(child, part)
        return found

    def _chosen(self, element: Element, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of several forms the one that knows the element's children."""
        for key in ("oneOf", "anyOf"):
            choices = part.get(key)
            if choices and "type" not in part and "properties" not in part:
                names = {child.name for child in _own(element)}
                parts = [resolved(choice, self._root) for choice in choices]
                fitting = [one for one in parts if names and names <= set(one.get("properties", {}))]
                lists = [one for one in parts if _is_list(one)]
                return (fitting or (lists if names else []) or parts)[0]
        return part

    def _choice(self, element: Element) -> dict[str, Any]:
        if element.name != "license":
            if element.name != "expression":
                self.left_out.add(element.name)
            attributes = {key: value for key, value in element.attributes.items() if not namespace(key)}
            return {"expression": element.text.strip(), **attributes}
        part = self._root.get("definitions", {}).get("license", {})
        return {"license": self.mapping(element, part)}


def _own(element: Element) -> list[Element]:
    """Children in the namespace of the standard."""
    return [child for child in element.children if namespace(child.tag).startswith(_NAMESPACE)]


def _plural(many: str, one: str) -> bool:
    return many in {f"{one}s", f"{one}es", f"{one[:-1]}ies"}


def _is_list(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "array"


def _dependency(element: Element) -> dict[str, Any]:
    found: dict[str, Any] = {"ref": element.attributes.get("ref", "")}
    for tag, key in (("dependency", "dependsOn"), ("provides", "provides")):
        refs = [child.attributes.get("ref", "") for child in element.children if child.name == tag]
        if refs:
            found[key] = refs
    return found
