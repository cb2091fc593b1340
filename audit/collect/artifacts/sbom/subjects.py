"""What a bill of materials is about: names, digests and image references of its subjects."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote

from audit.collect.artifacts.sbom.document import Component, Document
from audit.collect.artifacts.sbom.problems import short

MAX_SUBJECTS = 200
_IMAGE_PURL = re.compile(r"pkg:(?:oci|docker)/([^@?#]+)(?:@([^?#]+))?(?:\?([^#]*))?")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


def subject_facts(document: Document) -> dict[str, Any]:
    """The subjects, and how many more there are."""
    by_id = {one.id: one for one in (*document.others, *document.components)} if document.subjects else {}
    listed = [_subject(by_id.get(id_), id_) for id_ in document.subjects[:MAX_SUBJECTS]]
    return {"listed": listed, "left_out": max(0, len(document.subjects) - MAX_SUBJECTS)}


def _subject(one: Component | None, id_: str) -> dict[str, Any]:
    if one is None:
        return {"id": short(id_), "found": False, "name": "", "version": "", "kind": "", "digests": [], "images": [],
                "references": []}  # fmt: skip
    images, references = _image_names(one)
    digests = [f"{name.lower()}:{value}" for name, value in one.digests]
    return {
        "id": short(id_),
        "found": True,
        "name": short(one.name or ""),
        "version": short(one.version or ""),
        "kind": one.kind,
        "digests": digests,
        "images": sorted(images),
        "references": sorted(references),
    }


def _image_names(one: Component) -> tuple[set[str], set[str]]:
    """Digests of the image, and names that it goes by."""
    images: set[str] = {f"sha256:{value}" for name, value in one.digests if name == "SHA256"}
    references: set[str] = set()
    for said in (one.version or "", one.name or ""):
        images |= {f"sha256:{digits}" for digits in _DIGEST.findall(said)}
    for identifier in one.identifiers:
        match = _IMAGE_PURL.match(identifier)
        if match is None:
            continue
        name, version, qualifiers = (
            match.group(1),
            unquote(match.group(2) or ""),
            parse_qs(match.group(3) or ""),
        )
        images |= {f"sha256:{digits}" for digits in _DIGEST.findall(version)}
        place = qualifiers.get("repository_url", [unquote(name)])[0]
        tag = qualifiers.get("tag", [version if not version.startswith("sha256:") else ""])[0]
        if tag:
            references.add(short(f"{place}:{tag}"))
    if one.kind == "container" and one.name:
        tagged = bool(one.version) and not (one.version or "").startswith("sha256:")
        last = one.name.rpartition("/")[2]
        references.add(short(one.name if ":" in last or not tagged else f"{one.name}:{one.version}"))
    return images, references
