"""SPDX 2.2 and 2.3, from the JSON form of the model, which every other form is brought into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.sbom.document import (
    NOASSERTION,
    NONE,
    Component,
    Document,
    algorithm,
    mapping,
    mappings,
    text,
    texts,
)
from audit.collect.artifacts.sbom.problems import refuse_crowd
from audit.collect.artifacts.sbom.references import digest_fits, is_cpe, is_namespace, is_purl, is_utc
from audit.collect.artifacts.sbom.spdx2_files import check_files
from audit.collect.artifacts.sbom.spdx2_relations import relate

DOCUMENT_ID = "SPDXRef-DOCUMENT"
_ID = re.compile(r"SPDXRef-[A-Za-z0-9.\-]+")
_PARTY = re.compile(r"\A(Person|Organization|Tool):\s*(.*)\Z", re.DOTALL)
_KINDS = {"CONTAINER": "container"}
_UNIQUE = {"purl", "cpe22Type", "cpe23Type", "swid", "swh", "gitoid"}


def read_spdx2(data: dict[str, Any]) -> Document:
    """The document, whatever is wrong with it."""
    info = mapping(data.get("creationInfo"))
    document = Document(
        version=str(data.get("spdxVersion", "")).removeprefix("SPDX-"),
        name=text(data.get("name")),
        namespace=text(data.get("documentNamespace")),
        created=text(info.get("created")),
    )
    _creators(document, texts(info.get("creators")))
    packages, files, snippets = (mappings(data.get(key)) for key in ("packages", "files", "snippets"))
    refuse_crowd(len(packages) + len(files) + len(snippets))
    infos = mappings(data.get("hasExtractedLicensingInfos"))
    document.declared_references = {str(one.get("licenseId")) for one in infos}
    _check_head(document, data)
    document.components = [_package(document, one) for one in packages]
    known = _check_ids(document, data, packages, files, snippets)
    relate(document, data, known, packages)
    check_files(document, packages, files)
    described = set(document.subjects)
    document.others = [_file(document, one) for one in files if str(one.get("SPDXID")) in described]
    document.counts = {
        "packages": len(packages),
        "files": len(files),
        "snippets": len(snippets),
        "relationships": len(mappings(data.get("relationships"))),
        "annotations": sum(
            len(mappings(one.get("annotations"))) for one in (data, *packages, *files, *snippets)
        ),
        "external_documents": len(mappings(data.get("externalDocumentRefs"))),
    }
    document.profiles = ["software"]
    return document


def _creators(document: Document, creators: list[str]) -> None:
    for creator in creators:
        match = _PARTY.match(creator)
        if match is None:
            document.structure.add("bad_creator", "a creator is no person, organisation or tool", creator)
        elif match.group(1) == "Tool":
            document.tools.append(match.group(2).strip())
        else:
            document.authors.append(match.group(2).strip())
            document.contact |= "@" in match.group(2)


def _check_head(document: Document, data: dict[str, Any]) -> None:
    found = document.structure
    if data.get("SPDXID") != DOCUMENT_ID:
        found.add("bad_document_id", f"the document's own id is not {DOCUMENT_ID}", data.get("SPDXID", ""))
    if data.get("dataLicense") != "CC0-1.0":
        found.add("bad_data_license", "the licence of the data is not CC0-1.0", data.get("dataLicense", ""))
    if document.namespace is None:
        found.add("no_namespace", "the document has no namespace")
    elif not is_namespace(document.namespace):
        found.add("bad_namespace", "the namespace is no absolute URI without #", document.namespace)
    if document.created is None:
        found.add("no_created", "the time of creation is missing")
    elif not is_utc(document.created):
        found.add("bad_created", "the time of creation is not YYYY-MM-DDThh:mm:ssZ", document.created)


def _check_ids(document: Document, data: dict[str, Any], *lists: list[dict[str, Any]]) -> set[str]:
    """All ids of the document; notes those that are given twice or are none."""
    known = {str(data.get("SPDXID", DOCUMENT_ID))}
    for elements in lists:
        for element in elements:
            id_ = element.get("SPDXID")
            if not isinstance(id_, str):
                document.structure.add("no_id", "an element has no SPDXID", element.get("name", ""))
                continue
            if id_ in known:
                document.structure.add("duplicate_id", "an SPDXID stands for two elements", id_)
            elif _ID.fullmatch(id_) is None:
                document.structure.add("malformed_id", "an SPDXID has characters that it may not have", id_)
            known.add(id_)
    return known


def _package(document: Document, package: dict[str, Any]) -> Component:
    id_ = str(package.get("SPDXID", ""))
    concluded = text(package.get("licenseConcluded"))
    declared = text(package.get("licenseDeclared"))
    return Component(
        id=id_,
        name=text(package.get("name")),
        kind=_KINDS.get(str(package.get("primaryPackagePurpose")), "package"),
        version=text(package.get("versionInfo")),
        supplier=_party(package.get("supplier")),
        licence=declared if concluded is None or (concluded == NOASSERTION and declared) else concluded,
        copyright=text(package.get("copyrightText")),
        filename=text(package.get("packageFileName")),
        identifiers=tuple(_references(document, package, id_)),
        digests=tuple(_checksums(document, package, id_)),
    )


def _file(document: Document, file: dict[str, Any]) -> Component:
    id_ = str(file.get("SPDXID"))
    digests = tuple(_checksums(document, file, id_))
    return Component(id=id_, name=text(file.get("fileName")), kind="file", digests=digests)


def _party(value: Any) -> str | None:
    """Who: without the word in front, so that "Organization: " alone says nothing."""
    found = text(value)
    if found is None or found in {NOASSERTION, NONE}:
        return found
    match = _PARTY.match(found)
    return text(match.group(2)) if match else found


def _checksums(document: Document, element: dict[str, Any], id_: str) -> Iterator[tuple[str, str]]:
    checksums = element.get("checksums")
    if not checksums:
        return
    for checksum in mappings(checksums):
        name, value = algorithm(checksum.get("algorithm")), str(checksum.get("checksumValue", ""))
        if digest_fits(name, value):
            yield name, value.lower()
        else:
            document.structure.add("bad_checksum", "a checksum has not the length of its algorithm", id_)


def _references(document: Document, package: dict[str, Any], id_: str) -> Iterator[str]:
    references = package.get("externalRefs")
    if not references:
        return
    for reference in mappings(references):
        kind, locator = str(reference.get("referenceType", "")), str(reference.get("referenceLocator", ""))
        kind = kind.rpartition("/")[2]
        wrong = (kind == "purl" and not is_purl(locator)) or (
            kind in {"cpe22Type", "cpe23Type"} and not is_cpe(locator)
        )
        if wrong or not locator:
            document.structure.add("bad_external_ref", "a package URL or CPE has not the form of one", id_)
        elif kind in _UNIQUE:
            yield locator
