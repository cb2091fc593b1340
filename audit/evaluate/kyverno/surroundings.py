"""What the rules may see besides their subject: namespace labels, other objects, definitions of custom kinds.

All of it comes from the cluster's inventory, which the first pass collected for the rules that declared a need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from audit.evaluate.kyverno.facts import ASSUMED_NAMESPACE, CustomKind, string_map
from audit.evaluate.kyverno.labels import NAME_LABEL
from audit.model.api_resources import is_namespaced
from audit.model.kyverno import ObjectNeed
from audit.model.subject import kind_key

_CRD = "apiextensions.k8s.io/CustomResourceDefinition"
PLACEHOLDER_NAMESPACE = "fleetaudit-placeholder"
"""Holds one object of each kind that is listed by namespace and has none: the CLI panics on a kind it never saw."""

Identity = tuple[str, str, str, str]
"""(group, kind, namespace, name)"""


class ContextObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object that is seen, not judged."""

    identity: Identity
    value: dict[str, Any]


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster's inventory, decoded once."""

    namespaces: dict[str, dict[str, str]]
    """Labels by namespace; only namespaces that were collected."""
    objects: dict[str, tuple[ContextObject, ...]]
    """By kind key."""
    custom: dict[str, CustomKind]
    definitions: dict[str, dict[str, Any]]
    """CustomResourceDefinitions by the kind key they define."""

    def labels_of(self, namespace: str) -> dict[str, str] | None:
        """Labels of a namespace; None when it was not collected."""
        return self.namespaces.get(namespace)

    def objects_for(self, needs: Iterable[ObjectNeed], *, everywhere: bool = False) -> list[ContextObject]:
        """Objects of the needed kinds, each once, with placeholders where a listing would find an unknown kind.

        Args:
            needs: what the rules read.
            everywhere: placeholders for kinds outside namespaces too; for a trial that judges nothing.
        """
        found: dict[Identity, ContextObject] = {}
        for need in needs:
            key = kind_key(need.group, need.kind)
            there = self.objects.get(key, ())
            found |= {entry.identity: entry for entry in there}
            if not there and (everywhere or is_namespaced(key)):
                placeholder = _placeholder(need)
                found[placeholder.identity] = placeholder
        return [found[identity] for identity in sorted(found)]

    def unanswerable(self, need: ObjectNeed) -> bool:
        """A whole-cluster listing of a kind without any object: a placeholder would be in it, and none panics."""
        return need.whole_cluster and not self.objects.get(kind_key(need.group, need.kind))


def surroundings_of(inventory: bytes) -> Surroundings:
    """Decode an inventory: kind key to namespace to objects."""
    decoded = msgspec.json.decode(inventory) if inventory else {}
    kinds: Mapping[str, Mapping[str, list[dict[str, Any]]]] = decoded if isinstance(decoded, dict) else {}
    namespaces: dict[str, dict[str, str]] = {}
    objects: dict[str, tuple[ContextObject, ...]] = {}
    custom: dict[str, CustomKind] = {}
    definitions: dict[str, dict[str, Any]] = {}
    for key, by_namespace in kinds.items():
        found = [_context_object(key, value) for values in by_namespace.values() for value in values]
        objects[key] = tuple(entry for entry in found if entry is not None)
        for entry in objects[key]:
            metadata = entry.value["metadata"]
            if key == "Namespace":
                name = entry.identity[3]
                namespaces[name] = {NAME_LABEL: name, **string_map(metadata.get("labels"))}
            elif key == _CRD and (defined := _definition(entry.value)):
                custom[defined[0]] = defined[1]
                definitions[defined[0]] = entry.value
    return Surroundings(namespaces=namespaces, objects=objects, custom=custom, definitions=definitions)


def _context_object(key: str, value: Any) -> ContextObject | None:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return None
    group, _, kind = key.rpartition("/")
    namespace = metadata.get("namespace")
    if not isinstance(namespace, str) or not namespace:
        namespace = "" if is_namespaced(key) is False else ASSUMED_NAMESPACE
    identity = (group, kind, namespace, metadata["name"])
    return ContextObject(identity=identity, value=value)


def _placeholder(need: ObjectNeed) -> ContextObject:
    api_version = f"{need.group}/{need.version}" if need.group else need.version
    identity = (need.group, need.kind, PLACEHOLDER_NAMESPACE, "placeholder")
    return ContextObject(
        identity=identity,
        value={
            "apiVersion": api_version,
            "kind": need.kind,
            "metadata": {"name": "placeholder", "namespace": PLACEHOLDER_NAMESPACE},
        },
    )


def _definition(value: Mapping[str, Any]) -> tuple[str, CustomKind] | None:
    spec = value.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return None
    group, kind, plural = spec.get("group"), names.get("kind"), names.get("plural")
    if not (isinstance(group, str) and isinstance(kind, str) and isinstance(plural, str)):
        return None
    return kind_key(group, kind), CustomKind(plural=plural, namespaced=spec.get("scope") == "Namespaced")
