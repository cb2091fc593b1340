"""SPDX 3.0 in JSON-LD: software, AI and dataset profiles."""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.sbom.document import (
    DANGLING,
    Component,
    Document,
    algorithm,
    mapping,
    mappings,
    text,
    texts,
)
from audit.collect.artifacts.sbom.problems import Problems, refuse_crowd
from audit.collect.artifacts.sbom.references import digest_fits, is_purl, is_utc

_COMPONENTS = {"software_Package": "package", "ai_AIPackage": "model", "dataset_DatasetPackage": "dataset"}
_LICENCES = ("hasConcludedLicense", "hasDeclaredLicense")
_BACKWARDS = {"ancestorOf", "availableFrom"}
_LISTED = {
    "https://spdx.org/rdf/3.0.1/terms/Core/NoAssertionElement": "NOASSERTION",
    "https://spdx.org/rdf/3.0.1/terms/Core/NoneElement": "NONE",
    "https://spdx.org/rdf/3.0.1/terms/ExpandedLicensing/NoAssertionLicense": "NOASSERTION",
    "https://spdx.org/rdf/3.0.1/terms/ExpandedLicensing/NoneLicense": "NONE",
    "NoAssertionElement": "NOASSERTION",
    "NoneElement": "NONE",
    "expandedlicensing_NoAssertionLicense": "NOASSERTION",
    "expandedlicensing_NoneLicense": "NONE",
}
"""Individuals that stand in every document without being in its graph."""
_ON_THE_LIST = ("https://spdx.org/licenses/", "http://spdx.org/licenses/")


def read_spdx3(data: dict[str, Any]) -> Document:
    """The document, whatever is wrong with it."""
    graph = [_named(one) for one in mappings(data.get("@graph")) or ([data] if "type" in data else [])]
    elements, found = _by_id(graph)
    head = next((one for one in graph if one.get("type") == "SpdxDocument"), {})
    info = _creation(head, elements)
    document = Document(
        version=str(info.get("specVersion", "")),
        name=text(head.get("name")),
        namespace=text(head.get("spdxId")),
        created=text(info.get("created")),
        structure=found,
    )
    _makers(document, info, elements)
    outside = {str(one.get("externalSpdxId")) for one in mappings(head.get("import"))}
    known = elements.keys() | outside | _LISTED.keys()
    packages = [one for one in graph if one.get("type") in _COMPONENTS]
    refuse_crowd(len(packages))
    document.subjects = _subjects(document, graph, head, elements, known)
    licences = _relate(document, graph, elements, known)
    document.components = [_component(one, elements, licences, found) for one in packages]
    described = set(document.subjects)
    document.others = [
        Component(
            id=str(one["spdxId"]),
            name=text(one.get("name")),
            kind="file",
            digests=tuple(_digests(one, str(one["spdxId"]), found)),
        )
        for one in graph
        if one.get("type") == "software_File" and one.get("spdxId") in described
    ]
    document.declared_references = {
        str(entry.get("key")) for one in graph for entry in mappings(one.get("simplelicensing_customIdToUri"))
    }
    _check(document, head)
    _profile(document, graph, head)
    document.counts = {
        "packages": len(packages),
        "files": sum(one.get("type") == "software_File" for one in graph),
        "snippets": sum(one.get("type") == "software_Snippet" for one in graph),
        "relationships": sum("relationshipType" in one for one in graph),
        "annotations": sum(one.get("type") == "Annotation" for one in graph),
        "external_documents": len(outside),
    }
    return document


def _named(element: dict[str, Any]) -> dict[str, Any]:
    """The element, with texts where names of things are looked up; what was wrong is the schema's business."""
    for key in ("type", "spdxId", "@id", "relationshipType", "suppliedBy", "software_primaryPurpose"):
        inline = key == "suppliedBy" and isinstance(element.get(key), dict)
        if key in element and not isinstance(element[key], str) and not inline:
            element = {**element, key: str(element[key])}
    return element


def _by_id(graph: list[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], Problems]:
    found = Problems()
    elements: dict[str, dict[str, Any]] = {}
    for one in graph:
        id_ = one.get("spdxId") or one.get("@id")
        if not isinstance(id_, str):
            found.add("no_id", "an element has no spdxId", one.get("name", ""))
            continue
        if id_ in elements:
            found.add("duplicate_id", "an spdxId stands for two elements", id_)
        elements[id_] = one
    return elements, found


def _creation(element: dict[str, Any], elements: dict[str, dict[str, Any]]) -> dict[str, Any]:
    info = element.get("creationInfo")
    return elements.get(info, {}) if isinstance(info, str) else mapping(info)


def _makers(document: Document, info: dict[str, Any], elements: dict[str, dict[str, Any]]) -> None:
    for id_ in texts(info.get("createdBy")):
        agent = elements.get(id_)
        if agent is None:
            document.structure.add("dangling_reference", DANGLING, id_)
        elif agent.get("type") == "SoftwareAgent":
            document.tools.append(text(agent.get("name")) or id_)
        else:
            document.authors.append(text(agent.get("name")) or id_)
            identified = mappings(agent.get("externalIdentifier"))
            document.contact |= any("@" in str(one.get("identifier", "")) for one in identified)
    for id_ in texts(info.get("createdUsing")):
        document.tools.append(text(elements.get(id_, {}).get("name")) or id_)


def _subjects(
    document: Document,
    graph: list[dict[str, Any]],
    head: dict[str, Any],
    elements: dict[str, dict[str, Any]],
    known: Any,
) -> list[str]:
    """Through the bill of materials, when the root is one, to what that is about."""
    roots: dict[str, None] = {}
    waiting = texts(head.get("rootElement"))
    if not waiting:
        waiting = [
            r for one in graph if one.get("type") == "software_Sbom" for r in texts(one.get("rootElement"))
        ]
    seen: set[str] = set()
    while waiting:
        id_ = waiting.pop()
        if id_ in seen:
            continue
        seen.add(id_)
        if id_ not in known:
            document.structure.add("dangling_reference", DANGLING, id_)
        inner = texts(elements.get(id_, {}).get("rootElement"))
        if inner:
            waiting += inner
        else:
            roots[id_] = None
    return list(roots)


def _relate(
    document: Document, graph: list[dict[str, Any]], elements: dict[str, dict[str, Any]], known: Any
) -> dict[str, dict[str, str]]:
    """Take up the relationships; the licences found, by kind of statement and element."""
    licences: dict[str, dict[str, str]] = {kind: {} for kind in _LICENCES}
    for one in graph:
        kind = one.get("relationshipType")
        if kind is None:
            continue
        start, ends = one.get("from"), texts(one.get("to"))
        for id_ in (start, *ends):
            if not isinstance(id_, str):
                document.structure.add("bad_relationship", "a relationship lacks an end or its type")
            elif id_ not in known and not id_.startswith(_ON_THE_LIST):
                document.structure.add("dangling_reference", DANGLING, id_)
        if not isinstance(start, str):
            continue
        if kind in licences:
            for end in ends:
                said, before = _expression(end, elements), licences[kind].get(start)
                # Several statements hold together.
                licences[kind][start] = said if before in {None, said} else f"({before}) AND ({said})"
            continue
        document.related.add(start)
        for end in ends:
            if end not in _LISTED:
                document.related.add(end)
                document.edges.append((end, start) if kind in _BACKWARDS else (start, end))
    for one in graph:
        document.edges += (
            [(str(one.get("spdxId")), end) for end in texts(one.get("element"))]
            if (one.get("type") == "software_Sbom")
            else []
        )
    return licences


def _expression(id_: str, elements: dict[str, dict[str, Any]]) -> str:
    if id_ in _LISTED:
        return _LISTED[id_]
    if id_.startswith(_ON_THE_LIST):
        return id_.rpartition("/")[2]
    element = elements.get(id_, {})
    return text(element.get("simplelicensing_licenseExpression")) or text(element.get("name")) or id_


def _component(
    data: dict[str, Any],
    elements: dict[str, dict[str, Any]],
    licences: dict[str, dict[str, str]],
    found: Problems,
) -> Component:
    id_ = str(data.get("spdxId", ""))
    concluded, declared = (licences[kind].get(id_) for kind in _LICENCES)
    supplier = data.get("suppliedBy")
    url = text(data.get("software_packageUrl"))
    if url and not is_purl(url):
        found.add("bad_external_ref", "a package URL or CPE has not the form of one", id_)
    identified = mappings(data.get("externalIdentifier"))
    return Component(
        id=id_,
        name=text(data.get("name")),
        kind=_COMPONENTS[str(data["type"])]
        if data.get("software_primaryPurpose") != "container"
        else "container",
        version=text(data.get("software_packageVersion")),
        supplier=_LISTED.get(supplier) or text(elements.get(supplier, {}).get("name") or supplier)
        if isinstance(supplier, str)
        else text(mapping(supplier).get("name")),
        licence=declared if concluded in {None, "NOASSERTION"} and declared else concluded,
        copyright=text(data.get("software_copyrightText")),
        identifiers=tuple(v for v in (url, *(text(one.get("identifier")) for one in identified)) if v),
        digests=tuple(_digests(data, id_, found)),
        states=tuple(
            name
            for name, purpose in (("executable", "executable"), ("archive", "archive"))
            if purpose
            in {data.get("software_primaryPurpose"), *texts(data.get("software_additionalPurpose"))}
        ),
    )


def _digests(data: dict[str, Any], id_: str, found: Problems) -> list[tuple[str, str]]:
    digests = []
    for one in mappings(data.get("verifiedUsing")):
        if "hashValue" not in one:
            continue
        name, value = algorithm(one.get("algorithm")), str(one["hashValue"])
        if digest_fits(name, value):
            digests.append((name, value.lower()))
        else:
            found.add("bad_checksum", "a checksum has not the length of its algorithm", id_)
    return digests


def _check(document: Document, head: dict[str, Any]) -> None:
    found = document.structure
    if not head:
        found.add("no_document", "the graph holds no SpdxDocument")
    if not document.subjects:
        found.add("no_describes", "the document doesn't say what it describes")
    if document.created is None:
        found.add("no_created", "the time of creation is missing")
    elif not is_utc(document.created):
        found.add("bad_created", "the time of creation is not YYYY-MM-DDThh:mm:ssZ", document.created)


def _profile(document: Document, graph: list[dict[str, Any]], head: dict[str, Any]) -> None:
    stated = texts(head.get("profileConformance"))
    used = {str(one.get("type", "")).partition("_")[0] for one in graph if "_" in str(one.get("type", ""))}
    document.profiles = sorted(used & {"ai", "dataset", "software", "security", "build", "extension"})
    for name in stated:
        if name in {"ai", "dataset"} and name not in used:
            document.structure.add("empty_profile", "a profile is stated and nothing of it is there", name)
