"""What is judged, and where it was found."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import msgspec

EVIDENCE_GROUP = "artifacts.fleetaudit.dev"
"""API group of what is read from files that are evidence: bills of materials, signatures, results of other tools."""
CLUSTER_GROUP = "fleetaudit.dev"
"""API group of subjects that no server stores: the Cluster subject of "X must exist" rules."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A point in a source file. Lines and columns count from 1; None means not known, never a guess."""

    file: str
    line: int | None = None
    column: int | None = None
    approximate: bool = False
    """True when the line is that of the enclosing object, because the exact path was not found."""


class SubjectRef(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of one judged thing."""

    cluster: str
    """Name of the registered cluster (or artifact set) it belongs to."""
    group: str
    """API group; empty for core."""
    version: str
    kind: str
    namespace: str = ""
    """Empty for cluster-scoped objects and where the manifest leaves it unset."""
    name: str = ""
    """``metadata.name``, or ``generateName`` followed by ``*``."""
    source: str = ""
    """File (relative to the scanned root where possible), ``-`` for stdin, empty for derived subjects."""
    document: int = 0
    """1-based document in a multi-document file (an empty leading document counts); 0 for derived subjects."""
    item: str = ""
    """Path of the item inside a List document, for example ``items[0].items[2]``; empty otherwise."""
    line: int | None = None
    digest: str = ""
    """sha256 (hex) of the redacted canonical JSON."""
    derived: bool = False
    """True for Namespace and Cluster subjects that no document declares."""
    owner_kind: str = ""
    owner_name: str = ""
    """Controller from ownerReferences, else the object itself; generated suffixes removed. Grouping key."""

    @property
    def kind_key(self) -> str:
        """``group/Kind``; ``Kind`` alone for the core group. Index of kinds everywhere."""
        return kind_key(self.group, self.kind)

    @property
    def title(self) -> str:
        """``Kind namespace/name`` for people."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"

    @property
    def key(self) -> str:
        """Identity across runs: cluster, group, kind, namespace, name. Versions and places may change."""
        return "|".join((self.cluster, self.group, self.kind, self.namespace, self.name))

    @property
    def id(self) -> str:
        """First 12 hex digits of sha256 over `key`."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:12]


def kind_key(group: str, kind: str) -> str:
    """``group/Kind``, or ``Kind`` for the core group."""
    return f"{group}/{kind}" if group else kind


EVERY_KIND = "*/*"
"""Named by what speaks of all kinds of all groups."""


def kind_listed(kind_key: str, kinds: Collection[str]) -> bool:
    """Whether `kinds` names the kind: itself, ``*/Kind`` (in any group), ``group/*`` (``/*`` is the core group), or all."""
    if kind_key in kinds or EVERY_KIND in kinds:
        return True
    group, _, kind = kind_key.rpartition("/")
    return f"*/{kind}" in kinds or f"{group}/*" in kinds


def derived_key(kind_key: str) -> str:
    """Kind under which an engine sees derived subjects, so that only rules meant for them are asked."""
    return f"derived:{kind_key}"


def controller_key(namespace: str, kind: str, name: str) -> int:
    """Identity of a possible controller inside one cluster, within one process: only membership is ever asked."""
    return hash((namespace, kind, name))
