"""Collecting running clusters into snapshots."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

import audit
from audit.collect.cluster.connection import Access
from audit.collect.cluster.source import ClusterScope, ClusterSource
from audit.collect.snapshot.form import Manifest
from audit.collect.snapshot.signing import Signer
from audit.collect.snapshot.storage import Target, target_of
from audit.collect.snapshot.writing import SnapshotWriter
from audit.config.schema import ClusterConfig, Config, ServerConfig
from audit.errors import AuditError, ReportError
from audit.model.subject import EVERY_KIND
from audit.native.reader import Reader, ReadLimits
from audit.normalise.identity import normalise_document
from audit.ports import Clock, ProgressSink, StopSignal
from audit.wiring.cores import jobs


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one cluster."""

    cluster: str
    place: str
    """Path or address of its snapshot."""
    manifest: Manifest | None
    """None when nothing was written: it was stopped, or there is an error."""
    error: AuditError | None = None


def take_snapshots(
    config: Config,
    *,
    to: str,
    sign_key: str | None,
    clock: Clock,
    progress: ProgressSink,
    stop: StopSignal,
) -> Iterator[Taken]:
    """Collect each running cluster of the configuration; one that can't be written costs itself.

    Args:
        config: the clusters, and how much of the machine is taken.
        to: folder or address below which each snapshot gets a folder of its own.
        sign_key: PEM file of a private key.
        clock: says when collecting began.
        progress: told of every page.
        stop: asked between pages. What was begun then is thrown away.

    Raises:
        UsageError: the key can't be used.
    """
    signer = Signer(Path(sign_key)) if sign_key is not None else None
    limits = ReadLimits(max_file_bytes=config.limits.max_file_bytes, memory_bytes=config.limits.memory_bytes)
    with Reader(jobs=jobs(config), limits=limits) as reader:
        for cluster in config.members():
            if cluster.server is None or stop.is_set():
                continue
            progress.stage(f"Collect {cluster.name}", None)
            place = f"{to.rstrip('/')}/{folder_name(cluster.name)}"
            try:
                target = target_of(to, folder_name(cluster.name))
                source = _source(config, cluster, cluster.server, reader, progress=progress, stop=stop)
                manifest = _take(source, target, cluster.name, clock.now, signer, stop=stop)
            except AuditError as error:
                yield Taken(cluster=cluster.name, place=place, manifest=None, error=error)
            else:
                yield Taken(cluster=cluster.name, place=place, manifest=manifest)


def folder_name(cluster: str) -> str:
    """A name for files, another one for every cluster."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", cluster)
    return plain if plain == cluster else f"{plain}-{hashlib.sha256(cluster.encode()).hexdigest()[:8]}"


def _source(
    config: Config,
    cluster: ClusterConfig,
    server: ServerConfig,
    reader: Reader,
    *,
    progress: ProgressSink,
    stop: StopSignal,
) -> ClusterSource:
    scope = ClusterScope(
        cluster=cluster.name,
        access=access_of(server),
        kinds=(EVERY_KIND,),
        secret_metadata=server.secret_metadata,
        seconds=config.limits.cluster_seconds,
    )
    return ClusterSource(scope, reader, normalise_document, progress=progress, stop=stop)


def access_of(server: ServerConfig) -> Access:
    """How the server is reached."""
    return Access(
        context=server.context or "", kubeconfig=server.kubeconfig or "", in_cluster=server.in_cluster
    )


def _take(
    source: ClusterSource,
    target: Target,
    cluster: str,
    now: Callable[[], dt.datetime],
    signer: Signer | None,
    *,
    stop: StopSignal,
) -> Manifest | None:
    writer = SnapshotWriter(target, cluster=cluster, version=audit.__version__, began=now())
    manifest = None
    try:
        for event in source.collect():
            writer.take(event)
        if not stop.is_set():
            manifest = writer.finish(source.facts(), source.discovered(), ended=now(), signer=signer)
    except OSError as error:
        raise ReportError(
            f"the snapshot cannot be written: {error.strerror or error}", file=target.name
        ) from error
    finally:
        if manifest is None:
            writer.discard()
    return manifest
