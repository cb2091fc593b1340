"""Which kinds a referential template reads in ``data.inventory``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from audit.library.foreign.gatekeeper.template import Template
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of
from audit.model.api_resources import built_in_kinds
from audit.model.subject import kind_key

ANNOTATION = "metadata.gatekeeper.sh/requires-sync-data"
_AT = {"cluster": 4, "namespace": 5}
"""Where the kind stands in a reference: data.inventory.cluster[version][KIND], data.inventory.namespace[ns][version][KIND]."""


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds one template reads."""

    kinds: frozenset[str]
    unknown: int | None
    """Line in the template's file of a reading whose kind cannot be told; None when there is none."""
    inferred: bool
    """Found in the Rego, because nobody says so."""


def synced_kinds(template: Template, everywhere: Iterable[str]) -> Synced:
    """Kinds from the template's annotation and the source's Config and SyncSets, else from its Rego.

    Raises:
        ContentError: the annotation cannot be read.
    """
    readings = [
        (part.line(reference.line), reference.path)
        for part in template.modules
        for reference in part.outline.references
        if reference.path[:2] == ("data", "inventory")
    ]
    if not readings:
        return Synced(kinds=frozenset(), unknown=None, inferred=False)
    declared = frozenset(everywhere) | _annotated(template)
    if declared:
        return Synced(kinds=declared, unknown=None, inferred=False)
    found: set[str] = set()
    unknown = None
    for line, path in readings:
        keys = _kinds_of(path)
        if not keys:
            unknown = unknown or line
        found |= keys
    return Synced(kinds=frozenset(found), unknown=unknown, inferred=True)


def _annotated(template: Template) -> frozenset[str]:
    text = template.annotations.get(ANNOTATION)
    if not isinstance(text, str):
        return frozenset()
    try:
        groups = json.loads(text.strip('\n" '))
        return frozenset(
            kind_key(group, kind)
            for alternatives in groups
            for clause in alternatives
            for group in clause["groups"]
            for kind in clause["kinds"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise template.document.error(
            f"cannot be read: {error}", key=f"metadata.annotations.{ANNOTATION}"
        ) from error


def _kinds_of(path: Sequence[str]) -> set[str]:
    place = _AT.get(path[2] if len(path) > 2 else "")
    if place is None or len(path) <= place or path[place] == "*":
        return set()
    version, kind = path[place - 1], path[place]
    if version != "*":
        return {kind_key(version.rpartition("/")[0], kind)}
    return {key for key in built_in_kinds() if key.rpartition("/")[2] == kind}


def listed_kinds(document: PolicyDocument) -> set[str]:
    """Kinds that a Config or a SyncSet has Gatekeeper keep."""
    entries: list[Any] = list_of(mapping_of(document.spec.get("sync")).get("syncOnly"))
    entries = [*entries, *list_of(document.spec.get("gvks"))]
    return {
        kind_key(text_of(mapping_of(entry).get("group")), text_of(mapping_of(entry).get("kind")))
        for entry in entries
        if text_of(mapping_of(entry).get("kind"))
    }


def excluded_namespaces(document: PolicyDocument) -> list[str]:
    """Namespaces that a Config keeps out of the audit.

    Raises:
        ContentError: an entry is no text.
    """
    found: list[str] = []
    for entry in list_of(mapping_of(document.value.get("spec")).get("match")):
        processes = list_of(mapping_of(entry).get("processes"))
        if not {"*", "audit"} & {text for text in processes if isinstance(text, str)}:
            continue
        for text in list_of(mapping_of(entry).get("excludedNamespaces")):
            if not isinstance(text, str):
                raise document.error("must be a list of texts", key="spec.match.excludedNamespaces")
            found.append(text)
    return found
