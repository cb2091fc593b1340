"""SPDX 2 in RDF/XML: the graph that the file states, and the JSON form made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.xml_document import Element, local, namespace, parse_xml

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_TERMS = re.compile(r"https?://spdx\.org/rdf/terms(?:/[\d.]+)?#(.*)")
_LISTED = re.compile(r"https?://spdx\.org/licenses/(.*?)(?:\.html)?")
_REFERENCE_TYPE = re.compile(r"https?://spdx\.org/rdf/references/(.*)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_DEPTH = 40
_STANDING = {"noassertion": "NOASSERTION", "none": "NONE"}


class _Node(msgspec.Struct, gc=False):
    id: str
    kind: str
    values: dict[str, list[tuple[str, bool]]]
    """Predicate to (value, whether it names a node)."""


def nodes_of(root: Element) -> dict[str, _Node]:
    """What is stated about what, statements about one thing put together."""
    nodes: dict[str, _Node] = {}
    for child in root.children:
        _node(child, nodes)
    return nodes


def _node(element: Element, nodes: dict[str, _Node]) -> str:
    about = _attribute(element, "about")
    id_ = about if about is not None else f"_:{_attribute(element, 'nodeID') or f'anonymous {len(nodes)}'}"
    node = nodes.get(id_)
    if node is None:
        node = nodes[id_] = _Node(id_, "", {})
    if element.name != "Description":
        node.kind = element.name
    for child in element.children:
        resource, named = _attribute(child, "resource"), _attribute(child, "nodeID")
        if resource is not None:
            value = (resource, True)
        elif named is not None and not child.children:
            value = (f"_:{named}", True)
        elif child.children:
            # A property holds one node; parseType Collection, which would hold several, is not used by SPDX.
            value = (_node(child.children[0], nodes), True)
        else:
            value = (child.text.strip(), False)
        if child.name == "type" and namespace(child.tag) == _RDF and value[1]:
            node.kind = value[0].rpartition("#")[2]
        else:
            node.values.setdefault(child.name, []).append(value)
    return id_


def _attribute(element: Element, name: str) -> str | None:
    return element.attributes.get(f"{_RDF}}}{name}")


def from_rdf(data: bytes) -> dict[str, Any]:
    """The JSON form.

    Raises:
        FormatError: it is no RDF/XML, or states no SPDX document.
    """
    root = parse_xml(data)
    if local(root.tag) != "RDF":
        raise FormatError("not_an_object", f"the root element is {root.name}, not rdf:RDF")
    nodes = nodes_of(root)
    head = next((node for node in nodes.values() if node.kind == "SpdxDocument"), None)
    if head is None:
        raise FormatError("not_an_object", "the graph states no SpdxDocument")
    return _Converter(nodes, head).document()


class _Converter:
    def __init__(self, nodes: dict[str, _Node], head: _Node) -> None:
        self._nodes = nodes
        self._head = head
        self._namespace = head.id.partition("#")[0]
        self._documents = {
            (self._one(node, "spdxDocument") or ""): self._own_name(node, "externalDocumentId")
            for node in nodes.values()
            if node.kind == "ExternalDocumentRef"
        }

    def document(self) -> dict[str, Any]:
        head = self._head
        found = self._plain(
            head,
            {
                "specVersion": "spdxVersion",
                "name": "name",
                "comment": "comment",
                "dataLicense": "dataLicense",
            },
        )
        found |= {"SPDXID": self._id(head.id), "documentNamespace": self._namespace}
        if "dataLicense" in found:
            found["dataLicense"] = _listed(found["dataLicense"])
        info = self._inner(head, "creationInfo")
        if info is not None:
            own = self._plain(
                info, {"created": "created", "comment": "comment", "licenseListVersion": "licenseListVersion"}
            )
            found["creationInfo"] = own | {"creators": self._all(info, "creator")}
        found |= _filled(
            {
                "annotations": list(self._annotations(head)),
                "externalDocumentRefs": [self._external(one) for one in self._of("ExternalDocumentRef")],
                "hasExtractedLicensingInfos": [
                    self._extracted(one) for one in self._of("ExtractedLicensingInfo")
                ],
                "packages": [self._package(one) for one in self._of("Package")],
                "files": [self._file(one) for one in self._of("File")],
                "snippets": [self._snippet(one) for one in self._of("Snippet")],
                "relationships": list(self._relationships()),
                "documentDescribes": [self._id(one) for one in self._all(head, "describesPackage")],
            }
        )
        return found

    def _of(self, kind: str) -> list[_Node]:
        return [node for node in self._nodes.values() if node.kind == kind]

    def _all(self, node: _Node, name: str) -> list[str]:
        return [value for value, _ in node.values.get(name, ())]

    def _one(self, node: _Node, name: str) -> str | None:
        found = node.values.get(name)
        return found[0][0] if found else None

    def _inner(self, node: _Node, name: str) -> _Node | None:
        return self._nodes.get(self._one(node, name) or "")

    def _inners(self, node: _Node, name: str) -> Iterator[_Node]:
        for value, is_node in node.values.get(name, ()):
            if is_node and value in self._nodes:
                yield self._nodes[value]

    def _plain(self, node: _Node, names: dict[str, str]) -> dict[str, Any]:
        return {key: _standing(value) for name, key in names.items() for value in self._all(node, name)[:1]}

    def _id(self, address: str) -> str:
        place, _, fragment = address.partition("#")
        if _TERMS.fullmatch(address):
            return _standing(address)
        if place != self._namespace and place in self._documents:
            return f"{self._documents[place]}:{fragment}"
        return fragment or address

    def _annotations(self, node: _Node) -> Iterator[dict[str, Any]]:
        names = {"annotationDate": "annotationDate", "annotator": "annotator", "comment": "comment"}
        for one in self._inners(node, "annotation"):
            yield self._plain(one, names) | {
                "annotationType": _term(self._one(one, "annotationType"), "annotationType_")
            }

    def _relationships(self) -> Iterator[dict[str, Any]]:
        for node in list(self._nodes.values()):
            for one in self._inners(node, "relationship"):
                related = self._one(one, "relatedSpdxElement") or ""
                yield {
                    "spdxElementId": self._id(node.id),
                    "relationshipType": _term(self._one(one, "relationshipType"), "relationshipType_"),
                    "relatedSpdxElement": self._id(related),
                } | self._plain(one, {"comment": "comment"})

    def _checksums(self, node: _Node) -> list[dict[str, Any]]:
        return [
            {
                "algorithm": _term(self._one(one, "algorithm"), "checksumAlgorithm_").replace("SHA_", "SHA"),
                "checksumValue": self._one(one, "checksumValue") or "",
            }
            for one in self._inners(node, "checksum")
        ]

    def _external(self, node: _Node) -> dict[str, Any]:
        found = {"externalDocumentId": self._own_name(node, "externalDocumentId")}
        found |= self._plain(node, {"spdxDocument": "spdxDocument"})
        checksums = self._checksums(node)
        return found | ({"checksum": checksums[0]} if checksums else {})

    def _extracted(self, node: _Node) -> dict[str, Any]:
        names = {"extractedText": "extractedText", "name": "name", "comment": "comment"}
        found = {"licenseId": self._own_name(node, "licenseId")}
        return found | self._plain(node, names) | _filled({"seeAlsos": self._all(node, "seeAlso")})

    def _own_name(self, node: _Node, name: str) -> str:
        """A name that is stated, or, in older documents, only the end of the address."""
        return self._one(node, name) or node.id.rpartition("#")[2]

    def _package(self, node: _Node) -> dict[str, Any]:
        simple = (
            "name", "versionInfo", "packageFileName", "supplier", "originator", "downloadLocation", "homepage", "sourceInfo",
            "licenseComments", "copyrightText", "summary", "description", "comment", "builtDate", "releaseDate", "validUntilDate",
        )  # fmt: skip
        found = self._element(node, simple)
        analysed = self._one(node, "filesAnalyzed")
        if analysed is not None:
            found["filesAnalyzed"] = {"true": True, "false": False}.get(analysed.lower(), analysed)
        code = self._inner(node, "packageVerificationCode")
        if code is not None:
            found["packageVerificationCode"] = self._plain(
                code, {"packageVerificationCodeValue": "packageVerificationCodeValue"}
            ) | _filled(
                {
                    "packageVerificationCodeExcludedFiles": self._all(
                        code, "packageVerificationCodeExcludedFile"
                    )
                }
            )
        purpose = self._one(node, "primaryPackagePurpose")
        if purpose:
            found["primaryPackagePurpose"] = _term(purpose, "purpose_")
        references = [self._reference(one) for one in self._inners(node, "externalRef")]
        files = [self._id(one) for one in self._all(node, "hasFile")]
        return found | _filled(
            {
                "externalRefs": references,
                "hasFiles": files,
                "licenseInfoFromFiles": self._licences(node, "licenseInfoFromFiles"),
            }
        )

    def _reference(self, node: _Node) -> dict[str, Any]:
        kind = self._one(node, "referenceType") or ""
        match = _REFERENCE_TYPE.fullmatch(kind)
        return {
            "referenceCategory": _term(self._one(node, "referenceCategory"), "referenceCategory_"),
            "referenceType": match.group(1) if match else kind,
        } | self._plain(node, {"referenceLocator": "referenceLocator", "comment": "comment"})

    def _file(self, node: _Node) -> dict[str, Any]:
        simple = ("fileName", "licenseComments", "copyrightText", "comment", "noticeText")
        return self._element(node, simple) | _filled(
            {
                "fileTypes": [_term(one, "fileType_") for one in self._all(node, "fileType")],
                "fileContributors": self._all(node, "fileContributor"),
                "licenseInfoInFiles": self._licences(node, "licenseInfoInFile"),
            }
        )

    def _snippet(self, node: _Node) -> dict[str, Any]:
        found = self._element(node, ("name", "licenseComments", "copyrightText", "comment"))
        found["ranges"] = [range_ for one in self._inners(node, "range") for range_ in self._range(one)]
        return found | {
            "snippetFromFile": self._id(self._one(node, "snippetFromFile") or ""),
            "licenseInfoInSnippets": self._licences(node, "licenseInfoInSnippet"),
        }

    def _range(self, node: _Node) -> Iterator[dict[str, Any]]:
        pointers: dict[str, Any] = {}
        for which in ("startPointer", "endPointer"):
            pointer = self._inner(node, which)
            if pointer is None:
                return
            made: dict[str, Any] = {"reference": self._id(self._one(pointer, "reference") or "")}
            for key in ("offset", "lineNumber"):
                at = self._one(pointer, key)
                if at is not None and at.isdecimal():
                    made[key] = int(at)
            pointers[which] = made
        yield pointers

    def _element(self, node: _Node, simple: tuple[str, ...]) -> dict[str, Any]:
        found = {"SPDXID": self._id(node.id)} | self._plain(node, {name: name for name in simple})
        for key in ("licenseConcluded", "licenseDeclared"):
            licences = self._licences(node, key)
            if licences:
                found[key] = licences[0]
        return found | _filled(
            {
                "checksums": self._checksums(node),
                "annotations": list(self._annotations(node)),
                "attributionTexts": self._all(node, "attributionText"),
            }
        )

    def _licences(self, node: _Node, name: str) -> list[str]:
        return [self._licence(value, 0) for value in self._all(node, name)]

    def _licence(self, address: str, depth: int) -> str:
        node = self._nodes.get(address)
        if node is None or depth > _MAX_DEPTH:
            return _listed(_standing(address))
        members = [self._licence(one, depth + 1) for one in self._all(node, "member")]
        if node.kind in {"ConjunctiveLicenseSet", "DisjunctiveLicenseSet"} and members:
            joined = (" AND " if node.kind.startswith("C") else " OR ").join(members)
            return f"({joined})" if depth else joined
        if node.kind == "OrLaterOperator" and members:
            return f"{members[0]}+"
        if node.kind == "WithExceptionOperator" and members:
            exception = self._inner(node, "licenseException")
            named = (
                self._one(exception, "licenseExceptionId")
                if exception
                else self._one(node, "licenseException")
            )
            return f"{members[0]} WITH {_listed(named or '')}"
        return (
            self._own_name(node, "licenseId") if node.kind == "ExtractedLicensingInfo" else _listed(address)
        )


def _filled(values: dict[str, list[Any]]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _standing(value: str) -> str:
    """NOASSERTION and NONE are individuals of the graph."""
    match = _TERMS.fullmatch(value)
    return _STANDING.get(match.group(1), value) if match else value


def _listed(value: str) -> str:
    match = _LISTED.fullmatch(value)
    return match.group(1) if match else value.rpartition("#")[2]


def _term(value: str | None, prefix: str) -> str:
    """``…#relationshipType_dependsOn`` is DEPENDS_ON."""
    name = (value or "").rpartition("#")[2].removeprefix(prefix)
    return _CAPITAL.sub("_", name).upper()
