"""Objects for the engine, made from YAML: what the reader would hand over, without the reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from audit.library.kyverno.go_yaml import read_documents
from audit.model.rule import Rule
from audit.model.subject import SubjectRef, kind_key
from audit.ports import CollectedObject


def collected(
    value: dict[str, Any], *, cluster: str = "c", source: str = "", number: int = 1
) -> CollectedObject:
    group, _, version = value.get("apiVersion", "").rpartition("/")
    metadata = value.get("metadata") or {}
    name = metadata.get("name") or (f"{metadata['generateName']}*" if metadata.get("generateName") else "")
    raw = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return CollectedObject(
        ref=SubjectRef(
            cluster=cluster,
            group=group,
            version=version,
            kind=value.get("kind", ""),
            namespace=metadata.get("namespace") or "",
            name=name,
            source=source,
            document=number,
            digest=hashlib.sha256(raw).hexdigest(),
        ),
        raw=raw,
    )


def from_yaml(text: str) -> list[CollectedObject]:
    return [collected(value, number=n) for n, value in enumerate(yaml.safe_load_all(text), 1) if value]


def from_file(path: Path) -> list[CollectedObject]:
    """As the reader reads files: lists unrolled, Go's YAML."""
    found: list[CollectedObject] = []
    for number, document in enumerate(read_documents(path.read_text(encoding="utf-8"), str(path)), 1):
        value = document.value
        if not isinstance(value, dict):
            continue
        items = (
            value["items"] if str(value.get("kind", "")).endswith("List") and "items" in value else [value]
        )
        found += [
            collected(item, source=str(path), number=number)
            for item in items
            if isinstance(item, dict) and item.get("kind") and item.get("apiVersion")
        ]
    return found


def inventory_of(rules: Iterable[Rule], objects: Iterable[CollectedObject]) -> bytes:
    """What the first pass would collect for these rules: every declared kind, whole objects."""
    found: dict[str, dict[str, list[Any]]] = {
        kind_key(need.group, kind): {} for rule in rules for need in rule.context for kind in need.kinds
    }
    for item in objects:
        kinds = found.get(item.ref.kind_key)
        if kinds is not None:
            kinds.setdefault(item.ref.namespace, []).append(json.loads(item.raw))
    return json.dumps(found).encode()
