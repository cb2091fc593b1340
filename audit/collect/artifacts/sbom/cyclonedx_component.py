"""A component of CycloneDX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.sbom.document import Component, algorithm, mapping, mappings, text
from audit.collect.artifacts.sbom.problems import Problems
from audit.collect.artifacts.sbom.references import digest_fits, is_cpe, is_purl

_KINDS = {"machine-learning-model": "model", "data": "dataset", "container": "container", "file": "file"}
_BSI = "bsi:component:"
_STATES = ("executable", "archive", "structured")


def component_of(data: dict[str, Any], id_: str, found: Problems) -> Component:
    """Read one component; its nested ones are not looked at."""
    properties = mappings(data.get("properties")) if "properties" in data else []
    stated = {str(one.get("name")): one.get("value") for one in properties}
    kind = str(data.get("type", ""))
    return Component(
        id=id_,
        name=text(data.get("name")),
        kind=_KINDS.get(kind, kind if kind == "cryptographic-asset" else "package"),
        version=text(data.get("version")),
        supplier=_supplier(data),
        licence=licence_text(data.get("licenses")),
        copyright=text(data.get("copyright")) or _seen_copyright(data),
        filename=text(stated.get(f"{_BSI}filename")),
        identifiers=tuple(_identifiers(data, id_, found)),
        digests=tuple(_digests(data, id_, found)),
        states=tuple(name for name in _STATES if text(stated.get(_BSI + name))),
    )


def _supplier(data: dict[str, Any]) -> str | None:
    for key in ("supplier", "manufacturer"):
        if key in data:
            name = text(mapping(data[key]).get("name"))
            if name:
                return name
    return text(data.get("publisher"))


def _seen_copyright(data: dict[str, Any]) -> str | None:
    if "evidence" not in data:
        return None
    seen = mappings(mapping(data["evidence"]).get("copyright"))
    return next((words for one in seen for words in (text(one.get("text")),) if words), None)


def licence_text(choices: Any) -> str | None:
    """The licences as one expression. Several entries hold together; concluded ones win over declared ones."""
    if not choices:
        return None
    listed = mappings(choices)
    concluded = [one for one in listed if _acknowledged(one) == "concluded"]
    found = [words for one in concluded or listed for words in (_one(one),) if words]
    if len(found) <= 1:
        return found[0] if found else None
    return " AND ".join(f"({words})" if " " in words else words for words in found)


def _acknowledged(choice: dict[str, Any]) -> Any:
    return choice.get("acknowledgement") or mapping(choice.get("license")).get("acknowledgement")


def _one(choice: dict[str, Any]) -> str | None:
    licence = mapping(choice.get("license"))
    return text(choice.get("expression")) or text(licence.get("id")) or text(licence.get("name"))


def _identifiers(data: dict[str, Any], id_: str, found: Problems) -> Iterator[str]:
    for key, fits in (("purl", is_purl), ("cpe", is_cpe)):
        value = data.get(key)
        if value is None:
            continue
        if isinstance(value, str) and fits(value):
            yield value
        else:
            found.add("bad_external_ref", "a package URL or CPE has not the form of one", id_)
    swid = text(mapping(data.get("swid")).get("tagId")) if "swid" in data else None
    if swid:
        yield f"swid:{swid}"
    for key in ("omniborId", "swhid"):
        if key in data and isinstance(data[key], list):
            yield from (str(value) for value in data[key])


def _digests(data: dict[str, Any], id_: str, found: Problems) -> Iterator[tuple[str, str]]:
    hashes = mappings(data.get("hashes")) if "hashes" in data else []
    if "externalReferences" in data:
        for reference in mappings(data["externalReferences"]):
            if reference.get("type") in {"distribution", "distribution-intake"}:
                hashes = [*hashes, *mappings(reference.get("hashes"))]
    for one in hashes:
        name, value = algorithm(one.get("alg")), str(one.get("content", ""))
        if digest_fits(name, value):
            yield name, value.lower()
        else:
            found.add("bad_checksum", "a checksum has not the length of its algorithm", id_)
