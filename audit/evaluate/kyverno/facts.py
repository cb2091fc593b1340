"""What Kyverno's matching looks at in an object, as the CLI will see it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from audit.model.api_resources import built_in_plural, guess_plural, is_namespaced
from audit.model.kyverno import Caveat
from audit.model.subject import kind_key
from audit.ports import CollectedObject

ASSUMED_NAMESPACE = "default"
_LONG_DIGITS = re.compile(rb"\d{16,}")
_EXACT_LIMIT = 1 << 53


class CustomKind(msgspec.Struct, frozen=True, kw_only=True):
    """Names and scope from a CustomResourceDefinition."""

    plural: str
    namespaced: bool


class ObjectFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Identity and labels of one object."""

    group: str
    """As written: an object of ``extensions`` is not one of the successor's for Kyverno."""
    version: str
    kind: str
    plural: str
    name: str
    generate_name: str
    namespace: str
    """As the CLI sees it: ``default`` where the manifest names none and the kind is not known to have none."""
    labels: dict[str, str]
    annotations: dict[str, str]
    images: tuple[str, ...]
    caveats: tuple[Caveat, ...]

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What may stand only once in a run of the CLI."""
        return self.group, self.kind, self.namespace, self.name

    @property
    def is_namespace(self) -> bool:
        """A Namespace object itself."""
        return self.kind == "Namespace" and not self.group


def facts_of(item: CollectedObject, value: dict[str, Any], custom: dict[str, CustomKind]) -> ObjectFacts:
    """Facts of a decoded object."""
    ref = item.ref
    group = _written_group(value)
    key = kind_key(group, ref.kind)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    namespaced = is_namespaced(key)
    own = custom.get(key)
    if namespaced is None and own is not None:
        namespaced = own.namespaced
    written = metadata.get("namespace")
    written = written if isinstance(written, str) else ""
    caveats = []
    namespace = written
    if not written and namespaced is not False:
        namespace = ASSUMED_NAMESPACE
        caveats.append(Caveat.SCOPE_UNKNOWN if namespaced is None else Caveat.NAMESPACE_ASSUMED)
    if _LONG_DIGITS.search(item.raw) and _has_large_integer(value):
        caveats.append(Caveat.LARGE_INTEGER)
    plural = built_in_plural(key) or (own.plural if own else guess_plural(ref.kind))
    return ObjectFacts(
        group=group,
        version=ref.version,
        kind=ref.kind,
        plural=plural,
        name=_text(metadata.get("name")),
        generate_name=_text(metadata.get("generateName")),
        namespace=namespace,
        labels=string_map(metadata.get("labels")),
        annotations=string_map(metadata.get("annotations")),
        images=tuple(_images(value.get("spec"))),
        caveats=tuple(caveats),
    )


def _written_group(value: dict[str, Any]) -> str:
    group, slash, _ = _text(value.get("apiVersion")).partition("/")
    return group if slash else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def string_map(value: Any) -> dict[str, str]:
    """A map of texts; empty, as for Kubernetes' own accessors, when any value is something else."""
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        return {}
    return value


def _has_large_integer(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) > _EXACT_LIMIT
    if isinstance(value, dict):
        return any(_has_large_integer(item) for item in value.values())
    return isinstance(value, list) and any(_has_large_integer(item) for item in value)


def _images(part: Any) -> list[str]:
    """Images of all containers below a spec, wherever pod templates are."""
    found: list[str] = []
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("containers", "initContainers", "ephemeralContainers") and isinstance(value, list):
                found += [
                    c["image"] for c in value if isinstance(c, dict) and isinstance(c.get("image"), str)
                ]
            else:
                found += _images(value)
    elif isinstance(part, list):
        for item in part:
            found += _images(item)
    return found
