"""What every standard and form is read into, before facts are made of it."""

from __future__ import annotations

from typing import Any

import msgspec

from audit.collect.artifacts.sbom.problems import Problems

NOASSERTION, NONE = "NOASSERTION", "NONE"
UNNAMED = "component without bom-ref "
"""How the ids begin that we give to components that have none."""
DANGLING = "a relationship names an element that is not in the document"


class Component(msgspec.Struct, gc=False, kw_only=True):
    """A package, model, data set or file that stands on its own. None is "not said"; NOASSERTION and NONE stay as written."""

    id: str
    name: str | None = None
    kind: str = "package"
    """``package``, ``model``, ``dataset``, ``container``, ``file``, or the standard's own word."""
    version: str | None = None
    supplier: str | None = None
    licence: str | None = None
    copyright: str | None = None
    filename: str | None = None
    identifiers: tuple[str, ...] = ()
    """Package URLs, CPEs, SWIDs, OmniBOR ids."""
    digests: tuple[tuple[str, str], ...] = ()
    """(algorithm, value), the algorithm in capitals without hyphens."""
    states: tuple[str, ...] = ()
    """Of executable, archive and structured: those that are stated, and those that the form can't say."""


class Document(msgspec.Struct, kw_only=True):
    """One bill of materials."""

    version: str
    name: str | None = None
    namespace: str | None = None
    created: str | None = None
    authors: list[str] = msgspec.field(default_factory=list)
    tools: list[str] = msgspec.field(default_factory=list)
    contact: bool = False
    """An author is reachable: a mail address or a web address."""
    profiles: list[str] = msgspec.field(default_factory=list)
    components: list[Component] = msgspec.field(default_factory=list)
    others: list[Component] = msgspec.field(default_factory=list)
    """Files that are described: they are no components, and their digests count."""
    subjects: list[str] = msgspec.field(default_factory=list)
    """Ids of what it describes."""
    edges: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """(from, to): what leads from what is described to its parts."""
    related: set[str] = msgspec.field(default_factory=set)
    """Ids that stand in any relationship, or whose lack of one is stated."""
    declared_references: set[str] | None = None
    """``LicenseRef-`` names whose text the document holds; None where the standard has no place for that."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    structure: Problems = msgspec.field(default_factory=Problems)


def text(value: Any) -> str | None:
    """A text that says something; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def mapping(value: Any) -> dict[str, Any]:
    """A mapping; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list; a wrong type is the schema's business."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts of a list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def algorithm(name: Any) -> str:
    """``SHA-256``, ``sha256`` and ``SHA256`` are one."""
    return str(name).upper().replace("-", "").replace("_", "")
