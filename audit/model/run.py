"""The run record: what a result rests on, so that somebody else can check it."""

from __future__ import annotations

from typing import Any

import msgspec


class InputFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file read (or refused), by digest."""

    path: str
    cluster: str
    sha256: str
    """Empty when it could not be read."""
    bytes: int
    documents: int
    """Documents found in it, List items counted one by one."""


class EngineVersion(msgspec.Struct, frozen=True, kw_only=True):
    """An engine and the exact binary that ran."""

    name: str
    version: str
    binary_sha256: str = ""
    details: dict[str, str] = {}


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an API server told of itself."""

    host: str
    version: str = ""
    """Empty when it doesn't tell."""
    uid: str = ""
    """Of the namespace kube-system, which no two clusters share; empty when the role doesn't show it."""
    not_served: tuple[str, ...] = ()
    """Kinds that the rules look for and that the server doesn't know: there are no such objects."""


class SnapshotFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Where the objects of a cluster were before they were judged."""

    collected_at: str
    """ISO 8601 UTC."""
    sha256: str
    """Of its manifest, which has the digests of all its files."""
    signed_by: str = ""
    """Name of the configured key that signed; empty when nothing was checked."""
    fleetaudit: str = ""
    """Version that collected."""
    collected_as: str = ""
    """Name that the collector knows the cluster by."""


class ClusterRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A registered member of the fleet."""

    name: str
    kind: str
    """``manifests`` for a folder, ``live`` for an API server, ``snapshot`` for what was collected of one before,
    ``missing`` for a registered cluster of which nothing was given."""
    reached: bool
    subjects: int
    paths: tuple[str, ...] = ()
    server: ServerFacts | None = None
    """Of a live cluster that answered, now or when it was collected."""
    snapshot: SnapshotFacts | None = None
    """Of a cluster that was collected before."""
    region: str = ""
    tier: str = ""
    owner: str = ""
    """As registered."""


class Denominator(msgspec.Struct, frozen=True, kw_only=True):
    """The proof: documents in = evaluated + ignored by nature + in gaps; pairs due = pairs answered."""

    files: int
    documents: int
    """Documents found, List items counted one by one, empty ones excluded."""
    objects: int
    """Kubernetes objects in scope."""
    objects_judged: int
    """Those that were handed to the rules: fewer when the run was stopped."""
    derived: int
    """Namespace and Cluster subjects no document declares."""
    not_objects: int
    """Documents that are no Kubernetes object (scalars, values files, kustomize patches), each with a notice."""
    in_gaps: int
    """Documents or files hidden behind gaps, counted where countable."""
    excluded: int
    """Left out by scope.exclude, --exclude or .gitignore, or fleetaudit's own files, each listed."""
    rules: int
    pairs_due: int
    pairs_answered: int


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to repeat or check a result. `started`, `finished` and `volatile` stay outside the digest."""

    fleetaudit: str
    inputs: tuple[InputFile, ...]
    engines: tuple[EngineVersion, ...]
    clusters: tuple[ClusterRecord, ...]
    rules_sha256: str
    catalogs_sha256: dict[str, str]
    mappings_sha256: dict[str, str]
    scope_sha256: str
    configuration: dict[str, Any]
    """Effective configuration, secrets removed."""
    arguments: tuple[str, ...] = ()
    """Command-line arguments that ask for the same judgement again in the folder the run was started in; paths, cluster
    and rule are added by whoever repeats a single test."""
    population_file: str = ""
    population_sha256: str = ""
    denominator: Denominator
    state_time: str
    """ISO 8601 UTC: the moment expiries were judged at. From the injected clock; outside the digest."""
    started: str = ""
    finished: str = ""
    result_sha256: str = ""
    """Digest over the canonical result without state_time, started, finished and itself."""
