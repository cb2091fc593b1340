"""OpenVEX: what a supplier says about vulnerabilities in products. What most documents lack is no fault; a wrong type is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.fields import (
    list_at,
    mapping_at,
    mapping_of,
    mappings_at,
    text_at,
    texts_at,
)
from audit.collect.artifacts.evidence.matching import fits
from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.sbom.problems import FormatError

MAX_STATEMENTS = 2_000
AUTHORS = "parameters.evidence/vulnerabilities-fixed.vex_authors"
_STATUSES = {"not_affected", "affected", "fixed", "under_investigation"}


class OpenVexReader(ResultReader):
    """Reads OpenVEX documents."""

    name = "OpenVEX"
    kinds = frozenset({"VexDocument"})
    suffixes = frozenset({".json", ".jsonld", ".vex"})

    def fits(self, text: str) -> bool:
        """By its context."""
        return text.startswith("{") and "openvex.dev/ns" in text

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """One document."""
        value = mapping_of(objects_of(data), "the document")
        statements = [_statement(one) for one in mappings_at(value, "statements")]
        if not statements:
            raise FormatError("no_statements", "it holds no statement")
        author = text_at(value, "author")
        notices: list[dict[str, Any]] = [
            {"code": f"no_{key}", "message": f"the document has no {key}", "count": 1}
            for key, there in (
                ("id", text_at(value, "@id")),
                ("timestamp", value.get("timestamp")),
                ("author", author),
            )
            if not there
        ]
        yield {
            "form": "openvex",
            "tool": {"name": text_at(value, "tooling"), "version": ""},
            "id": text_at(value, "@id"),
            "author": author,
            "created": self.created(value.get("last_updated") or value.get("timestamp")),
            "notices": [*notices, *self._unlisted(author, len(statements))],
            "statements": statements[:MAX_STATEMENTS],
            "left_out": max(0, len(statements) - MAX_STATEMENTS),
        }

    def _unlisted(self, author: str, number: int) -> list[dict[str, Any]]:
        """That nobody said to believe the author."""
        if fits(author, self._settings.vex_authors):
            return []
        said = f"{number} {'statement' if number == 1 else 'statements'} of {author or 'an author without a name'}"
        message = f"{said} change nothing: {AUTHORS} does not name this author"
        return [{"code": "vex_author_unlisted", "message": message, "count": number}]


def _statement(one: dict[str, Any]) -> dict[str, Any]:
    vulnerability = one.get("vulnerability")
    if isinstance(vulnerability, str):
        names = [named(vulnerability)]
    else:
        details = mapping_at(one, "vulnerability")
        names = [text_at(details, "name"), text_at(details, "@id"), *texts_at(details, "aliases")]
    status = text_at(one, "status")
    return {
        "vulnerabilities": sorted({name for name in names if name}),
        "status": status if status in _STATUSES else "unknown",
        "justification": text_at(one, "justification") or text_at(one, "impact_statement"),
        "products": [_product(product) for product in list_at(one, "products")],
    }


def _product(product: Any) -> dict[str, Any]:
    if isinstance(product, str):
        return {"ids": [named(product)], "subcomponents": []}
    details = mapping_of(product, "an entry of products")
    inner = list_at(details, "subcomponents")
    return {"ids": _ids(details), "subcomponents": sorted({id_ for one in inner for id_ in _part(one)})}


def _part(one: Any) -> list[str]:
    found = [named(one)] if isinstance(one, str) else _ids(mapping_of(one, "an entry of subcomponents"))
    if not any(found):
        # Without it, what is said of a part would be said of the whole product.
        raise FormatError("no_id", "malformed: an entry of subcomponents names nothing")
    return found


def _ids(details: dict[str, Any]) -> list[str]:
    identifiers, hashes = mapping_at(details, "identifiers"), mapping_at(details, "hashes")
    found = [text_at(details, "@id"), *(text_at(identifiers, key) for key in identifiers)]
    found += [f"sha256:{text_at(hashes, key)}" for key in hashes if key in {"sha-256", "sha256"}]
    return sorted({one for one in found if one})
