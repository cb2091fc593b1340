"""OpenVEX: what a supplier says about vulnerabilities in products. Read leniently: most documents lack something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.sbom.document import mapping, mappings, text, texts
from audit.collect.artifacts.sbom.problems import FormatError

MAX_STATEMENTS = 2_000
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
        value = mapping(objects_of(data))
        statements = [_statement(one) for one in mappings(value.get("statements"))]
        if not statements:
            raise FormatError("no_statements", "it holds no statement")
        notices = [
            f"no_{key}"
            for key, there in (
                ("id", value.get("@id")),
                ("timestamp", value.get("timestamp")),
                ("author", value.get("author")),
            )
            if not there
        ]
        yield {
            "form": "openvex",
            "tool": {"name": named(value.get("tooling")), "version": ""},
            "id": named(value.get("@id")),
            "author": named(value.get("author")),
            "created": self.created(value.get("last_updated") or value.get("timestamp")),
            "notices": notices,
            "statements": statements[:MAX_STATEMENTS],
            "left_out": max(0, len(statements) - MAX_STATEMENTS),
        }


def _statement(one: dict[str, Any]) -> dict[str, Any]:
    vulnerability = one.get("vulnerability")
    names = [vulnerability] if isinstance(vulnerability, str) else []
    details = mapping(vulnerability)
    names += [found for key in ("name", "@id") for found in (text(details.get(key)),) if found] + texts(
        details.get("aliases")
    )
    status = str(one.get("status", ""))
    products = one.get("products")
    return {
        "vulnerabilities": sorted({named(name) for name in names}),
        "status": status if status in _STATUSES else "unknown",
        "justification": named(one.get("justification") or one.get("impact_statement")),
        "products": [_product(product) for product in products] if isinstance(products, list) else [],
    }


def _product(product: Any) -> dict[str, Any]:
    if isinstance(product, str):
        return {"ids": [named(product)], "subcomponents": []}
    details = mapping(product)
    inner = details.get("subcomponents")
    return {
        "ids": _ids(details),
        "subcomponents": sorted(
            {id_ for one in inner for id_ in ([named(one)] if isinstance(one, str) else _ids(mapping(one)))}
        )
        if isinstance(inner, list)
        else [],
    }


def _ids(details: dict[str, Any]) -> list[str]:
    found = [details.get("@id"), *mapping(details.get("identifiers")).values()]
    hashes = [
        f"sha256:{value}"
        for key, value in mapping(details.get("hashes")).items()
        if key in {"sha-256", "sha256"}
    ]
    return sorted({named(one) for one in (*found, *hashes) if isinstance(one, str)})
