"""The reader of bills of materials: any form of SPDX 2, SPDX 3 and CycloneDX, recognised by content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from audit.collect.artifacts.reading import Artifact, ArtifactReader, Facts, UnreadError
from audit.collect.artifacts.sbom import cyclonedx_xml, recognition, schemas, spdx2_forms
from audit.collect.artifacts.sbom.cyclonedx import read_cyclonedx
from audit.collect.artifacts.sbom.decoding import utf8
from audit.collect.artifacts.sbom.deep import DeepValidator
from audit.collect.artifacts.sbom.document import Document
from audit.collect.artifacts.sbom.facts import (
    content_facts,
    format_facts,
    left_out,
    unchecked_format,
    unread_facts,
)
from audit.collect.artifacts.sbom.json_document import duplicate_keys, parse_json
from audit.collect.artifacts.sbom.problems import FormatError, short
from audit.collect.artifacts.sbom.recognition import CYCLONEDX, SPDX, Flavour, flavour_of
from audit.collect.artifacts.sbom.settings import SbomSettings
from audit.collect.artifacts.sbom.spdx2 import read_spdx2
from audit.collect.artifacts.sbom.spdx2_rdf import from_rdf
from audit.collect.artifacts.sbom.spdx2_tagvalue import from_tag_value
from audit.collect.artifacts.sbom.spdx3 import read_spdx3
from audit.model.gap import GapKind

KIND = "Sbom"
_NO_JSON = frozenset({recognition.YAML, recognition.XML, recognition.TAG_VALUE, recognition.RDF})
_FORMS: dict[tuple[str, int, str], Callable[[bytes], dict[str, Any]]] = {
    (SPDX, 2, recognition.JSON): parse_json,
    (SPDX, 2, recognition.YAML): spdx2_forms.from_yaml,
    (SPDX, 2, recognition.XML): spdx2_forms.from_xml,
    (SPDX, 2, recognition.TAG_VALUE): from_tag_value,
    (SPDX, 2, recognition.RDF): from_rdf,
    (SPDX, 3, recognition.JSON_LD): parse_json,
    (CYCLONEDX, 1, recognition.JSON): parse_json,
}
_MODELS: dict[tuple[str, int], Callable[[dict[str, Any]], Document]] = {
    (SPDX, 2): read_spdx2,
    (SPDX, 3): read_spdx3,
    (CYCLONEDX, 1): read_cyclonedx,
}


class SbomReader:
    """Reads bills of materials.

    Args:
        settings: limits, and the moment ages are counted to.
    """

    name = "SBOM"
    kinds = frozenset({KIND})
    shares = False
    suffixes = frozenset(
        {".json", ".xml", ".rdf", ".spdx", ".yaml", ".yml", ".tag", ".jsonld", ".cdx", ".bom"}
    )

    def __init__(self, settings: SbomSettings) -> None:
        self._settings = settings
        self._deep = DeepValidator(settings)

    def recognises(self, artifact: Artifact) -> bool:
        """Whether the beginning says that it is one."""
        return flavour_of(artifact.head) is not None

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """The facts: one object a file.

        Raises:
            UnreadError: it is larger than the limit.
            OSError: the file can't be read.
        """
        flavour = flavour_of(artifact.head)
        if flavour is None:
            return
        file = {
            "label": artifact.label,
            "sha256": artifact.sha256(),
            "bytes": artifact.size,
            "encoding": "",
        }
        spec: dict[str, Any] = {
            "file": file,
            "standard": flavour.standard,
            "version": "",
            "serialisation": flavour.serialisation,
        }
        self._refuse_large(artifact, flavour)
        try:
            data, file["encoding"] = utf8(artifact.data())
            plain, unchecked = _plain(flavour, data)
            doubled = 0 if flavour.serialisation in _NO_JSON else duplicate_keys(data, plain)
            del data
            document = _MODELS[flavour.standard, flavour.major](plain)
            if doubled:
                document.structure.add("duplicate_keys", "a key stands twice in its object", times=doubled)
            spec["version"] = short(document.version)
            spec["format"] = self._format(flavour, document, plain, unchecked)
            del plain
            spec |= content_facts(document, flavour.standard, self._settings.moment())
        except FormatError as error:
            spec |= unread_facts(error)
        yield Facts(kind=KIND, name=artifact.label, spec=spec)

    def _refuse_large(self, artifact: Artifact, flavour: Flavour) -> None:
        """Forms that need many times their size in memory have limits of their own."""
        limits = {
            recognition.YAML: self._settings.yaml_max_bytes,
            recognition.XML: self._settings.tree_max_bytes,
            recognition.RDF: self._settings.tree_max_bytes,
        }
        limit = limits.get(flavour.serialisation, artifact.max_bytes)
        if artifact.size > limit:
            raise UnreadError(
                f"{artifact.size} bytes of {flavour.serialisation}, limit {limit}",
                kind=GapKind.TOO_LARGE,
                hint="write it as JSON",
            )

    def _format(
        self, flavour: Flavour, document: Document, plain: dict[str, Any], unchecked: list[str]
    ) -> dict[str, Any]:
        version = document.version
        if not schemas.known(flavour.standard, version):
            return unchecked_format("unknown_version", f"no schema for {flavour.standard} {short(version)}")
        try:
            problems, whole = schemas.validate(flavour.standard, version, plain)
        except FormatError as error:
            return unchecked_format(error.code, error.message)
        checked_by = f"JSON schema of {flavour.standard} {version}"
        if flavour.serialisation not in {recognition.JSON, recognition.JSON_LD}:
            checked_by += f", after conversion from {flavour.serialisation}"
        if flavour.standard == SPDX and flavour.major == 2:
            deep = self._deep.validate(document, plain)
        else:
            deep = left_out(f"spdx-tools doesn't validate {flavour.standard} {version}")
        return format_facts(problems, whole=whole, checked_by=checked_by, unchecked=unchecked, deep=deep)


def _plain(flavour: Flavour, data: bytes) -> tuple[dict[str, Any], list[str]]:
    """The JSON form of the document, and parts of it that no schema can be asked about."""
    if flavour.standard == CYCLONEDX and flavour.serialisation == recognition.XML:
        return cyclonedx_xml.from_xml(data)
    return _FORMS[flavour.standard, flavour.major, flavour.serialisation](data), []


def plain_spdx2(artifact: Artifact) -> dict[str, Any]:
    """An SPDX 2 document of any form in JSON form.

    Raises:
        FormatError: it is none, or can't be read.
        UnreadError: it is larger than the limit.
    """
    flavour = flavour_of(artifact.head)
    if flavour is None or (flavour.standard, flavour.major) != (SPDX, 2):
        raise FormatError("not_spdx2", "is no SPDX 2 document")
    return _plain(flavour, utf8(artifact.data())[0])[0]


def readers(settings: SbomSettings) -> Sequence[ArtifactReader]:
    """The readers of this folder."""
    return (SbomReader(settings),)
