"""SPDX 2 in tag-value form, read line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from audit.collect.artifacts.sbom.problems import FormatError, refuse_crowd

_TAG = re.compile(r"\s*([A-Za-z]+)\s*:\s?(.*)", re.DOTALL)
MAX_PAIRS = 2_000_000
"""Real documents of the largest size have half of this."""
_OPEN, _CLOSE = "<text>", "</text>"
_CODE = re.compile(r"([^\s(]+)\s*(?:\(\s*(?:excludes?:)?\s*(.*)\))?", re.IGNORECASE | re.DOTALL)
_DOCUMENT_REF = re.compile(r"(\S+)\s+(\S+)\s+(\w+):\s*(\S+)")

_SIMPLE = {
    "document": {
        "SPDXVersion": "spdxVersion", "DataLicense": "dataLicense", "DocumentName": "name",
        "DocumentNamespace": "documentNamespace", "DocumentComment": "comment",
    },
    "creation": {
        "Created": "created", "CreatorComment": "comment", "LicenseListVersion": "licenseListVersion",
    },
    "package": {
        "PackageVersion": "versionInfo", "PackageFileName": "packageFileName", "PackageSupplier": "supplier",
        "PackageOriginator": "originator", "PackageDownloadLocation": "downloadLocation",
        "PackageHomePage": "homepage", "PackageSourceInfo": "sourceInfo",
        "PackageLicenseConcluded": "licenseConcluded", "PackageLicenseDeclared": "licenseDeclared",
        "PackageLicenseComments": "licenseComments", "PackageCopyrightText": "copyrightText",
        "PackageSummary": "summary", "PackageDescription": "description", "PackageComment": "comment",
        "PrimaryPackagePurpose": "primaryPackagePurpose", "ReleaseDate": "releaseDate", "BuiltDate": "builtDate",
        "ValidUntilDate": "validUntilDate",
    },
    "file": {
        "LicenseConcluded": "licenseConcluded", "LicenseComments": "licenseComments",
        "FileCopyrightText": "copyrightText", "FileComment": "comment", "FileNotice": "noticeText",
    },
    "snippet": {
        "SnippetFromFileSPDXID": "snippetFromFile", "SnippetLicenseConcluded": "licenseConcluded",
        "SnippetLicenseComments": "licenseComments", "SnippetCopyrightText": "copyrightText",
        "SnippetComment": "comment", "SnippetName": "name",
    },
    "licence": {"ExtractedText": "extractedText", "LicenseName": "name", "LicenseComment": "comment"},
    "relationship": {"RelationshipComment": "comment"},
    "annotation": {
        "AnnotationDate": "annotationDate", "AnnotationComment": "comment", "AnnotationType": "annotationType",
    },
    "reference": {"ExternalRefComment": "comment"},
    "review": {"ReviewDate": "reviewDate", "ReviewComment": "comment"},
}  # fmt: skip
_REPEATED = {
    "creation": {"Creator": "creators"},
    "package": {
        "PackageLicenseInfoFromFiles": "licenseInfoFromFiles", "PackageAttributionText": "attributionTexts",
    },
    "file": {
        "FileType": "fileTypes", "LicenseInfoInFile": "licenseInfoInFiles", "FileContributor": "fileContributors",
        "FileAttributionText": "attributionTexts", "FileDependency": "fileDependencies",
    },
    "snippet": {"LicenseInfoInSnippet": "licenseInfoInSnippets", "SnippetAttributionText": "attributionTexts"},
    "licence": {"LicenseCrossReference": "seeAlsos"},
}  # fmt: skip
_PLACE = {tag: (place, key) for place, tags in _SIMPLE.items() for tag, key in tags.items()}
_LISTS = {tag: (place, key) for place, tags in _REPEATED.items() for tag, key in tags.items()}
_IGNORED = {"ArtifactOfProjectName", "ArtifactOfProjectHomePage", "ArtifactOfProjectURI"}


def pairs(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, tag, value); a value may run over lines between ``<text>`` and ``</text>``.

    Raises:
        FormatError: a line has no tag, or a text has no end.
    """
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _TAG.match(line)
        if match is None:
            raise FormatError("not_tag_value", f"line {number} has no tag")
        tag, value = match.group(1), match.group(2).strip()
        if value.startswith(_OPEN):
            parts = [value[len(_OPEN) :]]
            while _CLOSE not in parts[-1]:
                following = next(lines, None)
                if following is None:
                    raise FormatError("truncated", f"the text that begins in line {number} has no end")
                parts.append(following[1])
            value = "\n".join(parts).rpartition(_CLOSE)[0]
        yield number, tag, value


def from_tag_value(data: bytes) -> dict[str, Any]:
    """The JSON form.

    Raises:
        FormatError: it can't be read as tag-value.
    """
    reader = _Reader()
    for count, (number, tag, value) in enumerate(pairs(data.decode("utf-8"))):
        if count >= MAX_PAIRS:
            raise FormatError("too_large", f"more than {MAX_PAIRS} tags")
        reader.take(number, tag, value)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self.document: dict[str, Any] = {"creationInfo": {}}
        self._current: dict[str, dict[str, Any]] = {
            "document": self.document,
            "creation": self.document["creationInfo"],
        }
        self._identified = self.document
        self._by_id: dict[str, dict[str, Any]] = {}
        self._annotations: list[dict[str, Any]] = []
        self._in_package: dict[str, Any] | None = None
        self._contained: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._special: dict[str, Callable[[str], object]] = {
            "PackageName": lambda v: self._begin("package", "packages", {"name": v}),
            "FileName": lambda v: self._begin("file", "files", {"fileName": v}),
            "SnippetSPDXID": lambda v: self._begin("snippet", "snippets", {"SPDXID": v}),
            "LicenseID": lambda v: self._add(
                "licence", self.document, "hasExtractedLicensingInfos", {"licenseId": v}
            ),
            "Annotator": self._annotator,
            "Reviewer": lambda v: self._add("review", self.document, "revieweds", {"reviewer": v}),
            "SPDXREF": lambda v: self._current["annotation"].__setitem__("", v),
            "SPDXID": self._id,
            "FilesAnalyzed": self._files_analysed,
            "PackageChecksum": lambda v: self._checksum("package", v),
            "FileChecksum": lambda v: self._checksum("file", v),
            "PackageVerificationCode": self._code,
            "ExternalRef": self._reference,
            "ExternalDocumentRef": self._external_document,
            "Relationship": self._relationship,
            "SnippetByteRange": lambda v: self._range("offset", v),
            "SnippetLineRange": lambda v: self._range("lineNumber", v),
        }

    def take(self, number: int, tag: str, value: str) -> None:
        try:
            if tag in self._special:
                self._special[tag](value)
            elif tag in _PLACE:
                place, key = _PLACE[tag]
                if key in self._current[place]:
                    raise FormatError("data_after_end", f"line {number}: {tag} for the second time")
                self._current[place][key] = value
            elif tag in _LISTS:
                place, key = _LISTS[tag]
                self._current[place].setdefault(key, []).append(value)
            elif tag not in _IGNORED:
                raise FormatError("not_tag_value", f"line {number}: there is no tag {tag}")
        except KeyError:
            raise FormatError("not_tag_value", f"line {number}: {tag} belongs to nothing") from None
        except ValueError:
            raise FormatError("not_tag_value", f"line {number}: {tag} can't be read") from None

    def finish(self) -> dict[str, Any]:
        for annotation in self._annotations:
            of = annotation.pop("", "SPDXRef-DOCUMENT")
            self._by_id.get(of, self.document).setdefault("annotations", []).append(annotation)
        for package, file in self._contained:
            self.document.setdefault("relationships", []).append(
                {
                    "spdxElementId": package.get("SPDXID", ""),
                    "relationshipType": "CONTAINS",
                    "relatedSpdxElement": file.get("SPDXID", ""),
                }
            )
        return self.document

    def _begin(self, place: str, key: str, element: dict[str, Any]) -> None:
        refuse_crowd(len(self.document.get(key, ())))
        self._identified = self._add(place, self.document, key, element)
        if place == "package":
            self._in_package = element
        elif place == "file" and self._in_package is not None:
            self._contained.append((self._in_package, element))
        if "SPDXID" in element:
            self._by_id[element["SPDXID"]] = element

    def _add(self, place: str, owner: dict[str, Any], key: str, element: dict[str, Any]) -> dict[str, Any]:
        owner.setdefault(key, []).append(element)
        self._current[place] = element
        return element

    def _annotator(self, value: str) -> None:
        self._current["annotation"] = {"annotator": value}
        self._annotations.append(self._current["annotation"])

    def _id(self, value: str) -> None:
        if "SPDXID" in self._identified:
            raise ValueError
        self._identified["SPDXID"] = value
        self._by_id.setdefault(value, self._identified)

    def _files_analysed(self, value: str) -> None:
        self._current["package"]["filesAnalyzed"] = {"true": True, "false": False}.get(value.lower(), value)

    def _checksum(self, place: str, value: str) -> None:
        name, colon, digits = value.partition(":")
        if not colon:
            raise ValueError
        self._current[place].setdefault("checksums", []).append(
            {"algorithm": name.strip(), "checksumValue": digits.strip()}
        )

    def _code(self, value: str) -> None:
        match = _CODE.fullmatch(value)
        if match is None:
            raise ValueError
        code: dict[str, Any] = {"packageVerificationCodeValue": match.group(1)}
        if match.group(2):
            code["packageVerificationCodeExcludedFiles"] = [
                name.strip() for name in match.group(2).split(",") if name.strip()
            ]
        self._current["package"]["packageVerificationCode"] = code

    def _reference(self, value: str) -> None:
        category, kind, locator = value.split(None, 2)
        self._add(
            "reference",
            self._current["package"],
            "externalRefs",
            {"referenceCategory": category, "referenceType": kind, "referenceLocator": locator},
        )

    def _external_document(self, value: str) -> None:
        match = _DOCUMENT_REF.fullmatch(value)
        if match is None:
            raise ValueError
        name, address, algorithm, digits = match.groups()
        checksum = {"algorithm": algorithm, "checksumValue": digits}
        one = {"externalDocumentId": name, "spdxDocument": address, "checksum": checksum}
        self.document.setdefault("externalDocumentRefs", []).append(one)

    def _relationship(self, value: str) -> None:
        start, kind, end = value.split()
        one = {"spdxElementId": start, "relationshipType": kind, "relatedSpdxElement": end}
        self._add("relationship", self.document, "relationships", one)

    def _range(self, key: str, value: str) -> None:
        start, end = (int(part) for part in value.split(":"))
        file = self._current["snippet"].get("snippetFromFile", "")
        pointers = {
            f"{which}Pointer": {key: at, "reference": file} for which, at in (("start", start), ("end", end))
        }
        self._current["snippet"].setdefault("ranges", []).append(pointers)
