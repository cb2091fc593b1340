"""Relationships of SPDX 2: what is described, what leads where, and what points at nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.sbom.document import DANGLING, NOASSERTION, NONE, Document, mappings, texts

_BACKWARDS = ("_OF", "_BY", "_FOR")
"""Endings of types that read from the part to the whole."""
_OPEN = frozenset({NONE, NOASSERTION})


def relate(document: Document, data: dict[str, Any], known: set[str], packages: list[dict[str, Any]]) -> None:
    """Take up the relationships."""
    found = document.structure
    own = str(data.get("SPDXID", "SPDXRef-DOCUMENT"))
    outside = {str(one.get("externalDocumentId")) for one in mappings(data.get("externalDocumentRefs"))}
    described: dict[str, None] = dict.fromkeys(texts(data.get("documentDescribes")))
    for id_ in described:
        if id_ not in known:
            found.add("dangling_reference", DANGLING, id_)
    edges, related = document.edges, document.related
    for start, end, kind in _ends(document, data.get("relationships"), known, outside):
        if start == own:
            if kind in {"DESCRIBES", "DESCRIBED_BY"}:
                described[end] = None
        elif end != own:
            related.add(start)
            if end not in _OPEN and start not in _OPEN:
                related.add(end)
                edges.append((start, end))
    for package in packages:
        files = package.get("hasFiles")
        if files:
            edges += [(str(package.get("SPDXID")), file) for file in texts(files)]
    document.subjects = [id_ for id_ in described if id_ not in _OPEN]
    if not document.subjects:
        found.add("no_describes", "the document doesn't say what it describes")


def _ends(
    document: Document, listed: Any, known: set[str], outside: set[str]
) -> Iterator[tuple[str, str, str]]:
    """From the whole to the part, and the type; notes what points at nothing."""
    found = document.structure
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        start, end, kind = (
            one.get("spdxElementId"),
            one.get("relatedSpdxElement"),
            one.get("relationshipType"),
        )
        if not (isinstance(start, str) and isinstance(end, str) and isinstance(kind, str)):
            found.add("bad_relationship", "a relationship lacks an end or its type")
            continue
        if start not in known and not _elsewhere(start, outside):
            found.add("dangling_reference", DANGLING, start)
        if end not in known and end not in _OPEN and not _elsewhere(end, outside):
            found.add("dangling_reference", DANGLING, end)
        yield (end, start, kind) if kind.endswith(_BACKWARDS) else (start, end, kind)


def _elsewhere(id_: str, outside: set[str]) -> bool:
    """Whether it is an element of another document that is named."""
    return id_.startswith("DocumentRef-") and id_.partition(":")[0] in outside
