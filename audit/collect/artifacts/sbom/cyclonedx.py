"""CycloneDX 1.2 to 1.7, from the JSON form, which XML is brought into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.sbom.cyclonedx_component import component_of
from audit.collect.artifacts.sbom.document import (
    DANGLING,
    UNNAMED,
    Component,
    Document,
    mapping,
    mappings,
    text,
    texts,
)
from audit.collect.artifacts.sbom.problems import refuse_crowd

_SERIAL = re.compile(r"urn:uuid:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ELSEWHERE = "urn:cdx:"
"""How a BOM-Link to another document begins."""


def read_cyclonedx(data: dict[str, Any]) -> Document:
    """The document, whatever is wrong with it."""
    metadata = mapping(data.get("metadata"))
    document = Document(
        version=str(data.get("specVersion", "")),
        namespace=text(data.get("serialNumber")),
        created=text(metadata.get("timestamp")),
    )
    _makers(document, metadata)
    known: set[str] = set()
    primary = metadata.get("component")
    if isinstance(primary, dict):
        document.name = text(primary.get("name"))
        _component(document, primary, known, None)
        document.subjects = [document.components[0].id]
        _parts(document, primary.get("components"), known, document.subjects[0])
    else:
        document.structure.add("no_describes", "the document doesn't say what it describes")
    _parts(document, data.get("components"), known, None)
    listed = len(document.components) - (1 if isinstance(primary, dict) else 0)
    services = _services(document, data.get("services"), known)
    _dependencies(document, data, known)
    _check(document, data, known)
    document.counts = {
        "packages": listed,
        "services": services,
        "relationships": sum(len(texts(one.get("dependsOn"))) for one in mappings(data.get("dependencies"))),
        "vulnerabilities": len(mappings(data.get("vulnerabilities"))),
        "annotations": len(mappings(data.get("annotations"))),
    }
    document.profiles = list(_profiles(document, data, services))
    return document


def _makers(document: Document, metadata: dict[str, Any]) -> None:
    organisations = [mapping(metadata.get(key)) for key in ("manufacturer", "manufacture", "supplier")]
    people = mappings(metadata.get("authors"))
    document.authors = [
        name
        for one in (*people, *organisations)
        for name in (text(one.get("name")) or text(one.get("email")),)
        if name
    ]
    contacts = [contact for one in organisations for contact in mappings(one.get("contact"))]
    document.contact = any(text(one.get("email")) for one in (*people, *contacts)) or any(
        texts(one.get("url")) for one in organisations
    )
    tools = metadata.get("tools")
    if isinstance(tools, dict):
        tools = [*mappings(tools.get("components")), *mappings(tools.get("services"))]
    document.tools = [
        " ".join(part for part in (text(one.get("name")), text(one.get("version"))) if part)
        for one in mappings(tools)
    ]


def _parts(document: Document, listed: Any, known: set[str], parent: str | None) -> None:
    """Nested components, without recursion: four hundred levels are real."""
    stack = [(one, parent) for one in reversed(mappings(listed))]
    while stack:
        data, above = stack.pop()
        found = _component(document, data, known, above)
        children = data.get("components")
        if children:
            stack += [(one, found.id) for one in reversed(mappings(children))]


def _component(document: Document, data: dict[str, Any], known: set[str], parent: str | None) -> Component:
    id_ = text(data.get("bom-ref")) or f"{UNNAMED}{len(document.components) + 1}"
    _take(document, id_, known)
    found = component_of(data, id_, document.structure)
    document.components.append(found)
    refuse_crowd(len(document.components))
    if parent is not None:
        document.edges.append((parent, id_))
        document.related.update((parent, id_))
    return found


def _take(document: Document, id_: str, known: set[str]) -> None:
    if id_ in known:
        document.structure.add("duplicate_id", "a bom-ref stands for two things", id_)
    known.add(id_)


def _services(document: Document, listed: Any, known: set[str]) -> int:
    number = 0
    stack = mappings(listed)
    while stack:
        one = stack.pop()
        number += 1
        ref = text(one.get("bom-ref"))
        if ref:
            _take(document, ref, known)
        stack += mappings(one.get("services"))
    return number


def _dependencies(document: Document, data: dict[str, Any], known: set[str]) -> None:
    found, seen = document.structure, set[str]()
    for one in mappings(data.get("dependencies")):
        start = text(one.get("ref"))
        if start is None:
            found.add("bad_relationship", "a dependency names nothing")
            continue
        if start in seen:
            found.add("duplicate_dependency", "the dependencies of a component are listed twice", start)
        seen.add(start)
        _must_be_known(document, start, known)
        # An empty list says that there are none, which is a statement, too.
        document.related.add(start)
        for key in ("dependsOn", "provides"):
            for end in texts(one.get(key)) if key in one else ():
                _must_be_known(document, end, known)
                document.edges.append((start, end))
                document.related.add(end)


def _must_be_known(document: Document, ref: str, known: set[str]) -> None:
    if ref not in known and not ref.startswith(_ELSEWHERE):
        document.structure.add("dangling_reference", DANGLING, ref)


def _check(document: Document, data: dict[str, Any], known: set[str]) -> None:
    found = document.structure
    if document.namespace is not None and _SERIAL.fullmatch(document.namespace) is None:
        found.add("bad_namespace", "the serial number is no urn:uuid", document.namespace)
    for composition in mappings(data.get("compositions")):
        for key in ("assemblies", "dependencies"):
            for ref in texts(composition.get(key)):
                _must_be_known(document, ref, known)
    for vulnerability in mappings(data.get("vulnerabilities")):
        for affected in mappings(vulnerability.get("affects")):
            if "ref" in affected:
                _must_be_known(document, str(affected["ref"]), known)


def _profiles(document: Document, data: dict[str, Any], services: int) -> Iterator[str]:
    kinds = {component.kind for component in document.components}
    if not kinds <= {"model", "dataset"}:
        yield "software"
    if "model" in kinds:
        yield "ai"
    if "dataset" in kinds:
        yield "dataset"
    if services:
        yield "services"
    if data.get("vulnerabilities"):
        yield "vulnerabilities"
    if data.get("formulation"):
        yield "build"
    if "cryptographic-asset" in kinds:
        yield "cryptography"
