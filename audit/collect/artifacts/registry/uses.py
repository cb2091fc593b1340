"""Which images the audited objects run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.registry.references import Reference, reference_of
from audit.ports import CollectedObject

MAX_REFERENCES = 100_000
_LISTS = ("containers", "initContainers", "ephemeralContainers", "sidecars", "steps")
_LONE = ("container", "script")
PodTable = Mapping[str, Sequence[Mapping[str, Any]]]
"""`kind_key` to places, in the form of ``rego/pod_templates.yaml``."""


class ImageUses:
    """Collects the images of objects as they go by.

    Args:
        table: where pods are described.
    """

    def __init__(self, table: PodTable) -> None:
        self._table = table
        self._found: dict[Reference, set[str]] = {}
        self.unreadable = 0
        """Names that are none, for example because nothing has filled in a template yet."""
        self.overflowed = False

    def see(self, item: CollectedObject) -> None:
        """Take note of the images of one object."""
        entries = self._table.get(item.ref.kind_key)
        if not entries:
            return
        document: Any = msgspec.json.decode(item.raw)
        for entry in entries:
            for place in _at(document, entry["path"]):
                for text in _named(place, entry):
                    self._note(text)

    def _note(self, text: str) -> None:
        reference = reference_of(text)
        if reference is None:
            self.unreadable += 1
        elif reference in self._found or len(self._found) < MAX_REFERENCES:
            self._found.setdefault(reference, set()).add(text)
        else:
            self.overflowed = True

    def references(self) -> dict[Reference, tuple[str, ...]]:
        """Each image once and in order, with the ways in which it is written."""
        ordered = sorted(self._found, key=str)
        return {reference: tuple(sorted(self._found[reference])) for reference in ordered}


def _at(value: Any, path: Sequence[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "*":
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for one in inner:
            yield from _at(one, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])


def _named(place: Any, entry: Mapping[str, Any]) -> Iterator[str]:
    """Names of images in a pod template, a pod spec, a lone container or a template of Argo."""
    if not isinstance(place, dict):
        return
    if entry["holds"] == "container":
        yield from _of_container(place)
        return
    spec = place.get("spec") if entry["holds"] == "template" else place
    if not isinstance(spec, dict):
        return
    for key in _LISTS:
        yield from _of_list(spec.get(key))
    for key in (*_LONE, *entry.get("merged", ())):
        yield from _of_container(spec.get(key))
    inner = spec.get("containerSet")
    if isinstance(inner, dict):
        yield from _of_list(inner.get("containers"))
    for volume in _list(spec.get("volumes")):
        image = volume.get("image") if isinstance(volume, dict) else None
        if isinstance(image, dict) and isinstance(image.get("reference"), str):
            yield image["reference"]


def _of_list(value: Any) -> Iterator[str]:
    for container in _list(value):
        yield from _of_container(container)


def _of_container(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(value.get("image"), str) and value["image"]:
        yield value["image"]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
