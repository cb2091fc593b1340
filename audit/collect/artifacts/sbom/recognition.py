"""Which of the formats a file is, by its first bytes."""

from __future__ import annotations

import re

import msgspec

from audit.collect.artifacts.sbom.decoding import peek

_JSON_SPDX2 = re.compile(r'(?<!\\)"spdxVersion"\s*:\s*"SPDX-2|(?<!\\)"SPDXID"\s*:\s*"SPDXRef-DOCUMENT"')
_JSON_SPDX3 = re.compile(r'"@context"\s*:\s*(\[\s*)?"https?://spdx\.org/rdf/3\.')
_JSON_SPDX3_LATE = re.compile(r'"type"\s*:\s*"(SpdxDocument|software_Sbom|CreationInfo)"')
_JSON_CYCLONEDX = re.compile(r'(?<!\\)"bomFormat"\s*:\s*"')
_CYCLONEDX_SCHEMA = re.compile(r'"\$schema"\s*:\s*"https?://cyclonedx\.org/schema/bom')
_KUBERNETES = re.compile(r'\A\s*\{\s*"apiVersion"\s*:')
_XML_CYCLONEDX = re.compile(r"""<(\w+:)?bom\b[^>]*["']http://cyclonedx\.org/schema/bom/""")
_XML_SPDX = re.compile(r"<Document[\s>].{0,4000}?<(SPDXID|spdxVersion)>", re.DOTALL)
_RDF_SPDX = re.compile(r"""<rdf:RDF\b[^>]*["']https?://spdx\.org/rdf/terms""")
_TAG_VALUE = re.compile(r"^SPDXVersion:\s*SPDX-2", re.MULTILINE)
_TAGGED = re.compile(r"(?:#[^\n]*\n\s*)*[A-Za-z]+:")
"""What the first line must be that is no comment: programs and pages quote the tag, too."""
_YAML_SPDX = re.compile(
    r"""^["']?(spdxVersion["']?:\s*["']?SPDX-2|SPDXID["']?:\s*["']?SPDXRef-DOCUMENT)""", re.MULTILINE
)

JSON, YAML, TAG_VALUE, RDF, XML, JSON_LD = "json", "yaml", "tag-value", "rdf-xml", "xml", "json-ld"
SPDX, CYCLONEDX = "SPDX", "CycloneDX"


class Flavour(msgspec.Struct, frozen=True):
    """A standard in one of its forms."""

    standard: str
    major: int
    serialisation: str


def flavour_of(head: bytes) -> Flavour | None:
    """What the beginning of a file says it is; None when it is no SBOM."""
    text = peek(head).lstrip("\ufeff \t\r\n")
    if text.startswith("{"):
        return _json(text)
    if text.startswith("<"):
        return _xml(text)
    if _TAGGED.match(text) and _TAG_VALUE.search(text):
        return Flavour(SPDX, 2, TAG_VALUE)
    if _YAML_SPDX.search(text):
        return Flavour(SPDX, 2, YAML)
    return None


def _json(text: str) -> Flavour | None:
    if _KUBERNETES.match(text):
        return None
    if _JSON_CYCLONEDX.search(text) or _CYCLONEDX_SCHEMA.search(text):
        return Flavour(CYCLONEDX, 1, JSON)
    if _JSON_SPDX3.search(text) or ('"@graph"' in text and _JSON_SPDX3_LATE.search(text)):
        return Flavour(SPDX, 3, JSON_LD)
    if _JSON_SPDX2.search(text):
        return Flavour(SPDX, 2, JSON)
    return None


def _xml(text: str) -> Flavour | None:
    if _XML_CYCLONEDX.search(text):
        return Flavour(CYCLONEDX, 1, XML)
    if _RDF_SPDX.search(text):
        return Flavour(SPDX, 2, RDF)
    if _XML_SPDX.search(text):
        return Flavour(SPDX, 2, XML)
    return None
