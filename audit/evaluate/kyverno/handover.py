"""Objects and side files as the CLI can take them: one object a document, explicit namespace, synthetic uid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

# Characters that YAML's reader refuses or folds although JSON allows them raw: C1 controls, DEL, line and paragraph
# separators, byte order mark, non-characters.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def to_document(value: Any) -> bytes:
    """JSON that is also YAML, on one line."""
    text = msgspec.json.encode(value).decode()
    if not text.isascii():
        text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text.encode()


def subject_document(value: Mapping[str, Any], *, namespace: str, uid: str) -> bytes:
    """An object to be judged.

    Args:
        value: decoded; not changed.
        namespace: as the CLI would set it, now written down.
        uid: comes back in the rows and pairs them; the object's own uid would not be unique.
    """
    metadata = value.get("metadata")
    metadata = {**metadata, "uid": uid} if isinstance(metadata, Mapping) else {"uid": uid}
    metadata.pop("resourceVersion", None)
    if namespace:
        metadata["namespace"] = namespace
    return to_document({**value, "metadata": metadata})


def join(documents: Iterable[bytes]) -> bytes:
    """A YAML stream. A line ``---`` can't occur inside: every document is one line of JSON."""
    return b"".join(b"---\n" + document + b"\n" for document in documents)


def values_document(
    own: Mapping[str, Any] | None, namespaces: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """A values file: the user's, with the collected namespaces' labels, which win.

    Args:
        own: the user's values, decoded.
        namespaces: labels by namespace.
    """
    values = {
        key: value for key, value in (own or {}).items() if key not in ("apiVersion", "kind", "metadata")
    }
    values["namespaceSelector"] = [
        *(entry for entry in values.get("namespaceSelector") or [] if entry.get("name") not in namespaces),
        *({"name": name, "labels": dict(labels)} for name, labels in sorted(namespaces.items())),
    ]
    # Classic policies ask for labels only, CEL's namespaceObject for the whole Namespace.
    listed = {namespace_name(entry): entry for entry in values.get("namespaces") or []}
    for name, labels in namespaces.items():
        metadata = {"name": name, "labels": dict(labels)}
        listed[name] = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    values["namespaces"] = [listed[name] for name in sorted(listed)]
    return {
        "apiVersion": "cli.kyverno.io/v1alpha1",
        "kind": "Values",
        "metadata": {"name": "values"},
        **values,
    }


def namespace_name(entry: Any) -> str:
    """``metadata.name`` of an entry of a values file."""
    metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""
