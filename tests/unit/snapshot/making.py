"""Snapshots made without a server: through the real reader and the real writer."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.cluster.kinds import Served, ServedKind
from audit.collect.cluster.pages import PageReader, page_label
from audit.collect.cluster.source import Discovered
from audit.collect.snapshot.form import MANIFEST, Manifest, decode_manifest, encode_manifest
from audit.collect.snapshot.lines import LineLimits
from audit.collect.snapshot.opening import open_snapshot
from audit.collect.snapshot.reading import SnapshotScope, SnapshotSource
from audit.collect.snapshot.signing import Signer, TrustedKey
from audit.collect.snapshot.storage import Target, target_of
from audit.collect.snapshot.writing import SnapshotWriter
from audit.model.gap import Gap, Notice
from audit.model.run import InputFile, ServerFacts
from audit.native.reader import Reader
from audit.normalise.identity import normalise_document
from audit.ports import CollectedObject

DEPLOYMENT = ServedKind(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
CONFIG_MAP = ServedKind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)
POD = ServedKind(group="", version="v1", kind="Pod", plural="pods", namespaced=True)
SECRET = ServedKind(group="", version="v1", kind="Secret", plural="secrets", namespaced=True)
UID = "0f1e2d3c-0000-4000-8000-000000000001"
BEGAN = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
LIMITS = LineLimits(max_content_bytes=1 << 30, max_line_bytes=64 << 20)

Events = list[CollectedObject | Gap | Notice | InputFile]


class Quiet:
    """Neither progress nor a stop."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, number: int = 1) -> None: ...

    def note(self, text: str) -> None: ...

    def is_set(self) -> bool:
        return False


def thing(kind: ServedKind, name: str, **more: Any) -> dict[str, Any]:
    version = f"{kind.group}/{kind.version}" if kind.group else kind.version
    metadata = {"name": name, "namespace": "ml", "uid": f"uid-{kind.kind}-{name}"}
    return {"apiVersion": version, "kind": kind.kind, "metadata": metadata, **more}


def told(reader: Reader, pages: Sequence[tuple[ServedKind, int, Sequence[Any]]]) -> Events:
    """What a server with these pages gives: (kind, number of the page, its objects)."""
    reading = PageReader("test", reader, normalise_document, Quiet())
    texts = (
        reading.text(page_label(kind.path, number), [json.dumps(one).encode() for one in objects])
        for kind, number, objects in pages
    )
    return list(reading.read(texts, lambda: ()))


def written(
    folder: Path,
    events: Events,
    asked: Sequence[ServedKind],
    *,
    cluster: str = "test",
    uid: str = UID,
    began: dt.datetime = BEGAN,
    not_asked: Sequence[ServedKind] = (),
    signer: Signer | None = None,
    reached: bool = True,
) -> Path:
    """A snapshot of these events; its folder."""
    target = target_of(str(folder), cluster)
    written_to(
        target,
        events,
        asked,
        cluster=cluster,
        uid=uid,
        began=began,
        not_asked=not_asked,
        signer=signer,
        reached=reached,
    )
    return folder / cluster


def written_to(
    target: Target,
    events: Events,
    asked: Sequence[ServedKind],
    *,
    cluster: str,
    uid: str = UID,
    began: dt.datetime = BEGAN,
    not_asked: Sequence[ServedKind] = (),
    signer: Signer | None = None,
    reached: bool = True,
) -> None:
    writer = SnapshotWriter(target, cluster=cluster, version="0.1.0", began=began)
    for event in events:
        writer.take(event)
    kinds = tuple(sorted((*asked, *not_asked), key=lambda kind: kind.key))
    found = Discovered(
        served=Served(kinds=kinds) if reached else None,
        asked=tuple(sorted(asked, key=lambda kind: kind.key)) if reached else (),
        beforehand=(),
        restarted=frozenset(),
    )
    facts = ServerFacts(host="https://server.example.com", version="v1.37.2", uid=uid) if reached else None
    writer.finish(facts, found, ended=began, signer=signer)


def read_back(
    path: Path | str,
    reader: Reader,
    kinds: Sequence[str] = ("*/*",),
    *,
    keys: Sequence[TrustedKey] = (),
    limits: LineLimits = LIMITS,
    cluster: str = "test",
) -> Events:
    """What a snapshot gives."""
    opened = open_snapshot(str(path), keys)
    scope = SnapshotScope(cluster=cluster, opened=opened, kinds=tuple(kinds), limits=limits)
    return list(SnapshotSource(scope, reader, normalise_document, progress=Quiet(), stop=Quiet()).collect())


def objects(events: Events) -> list[CollectedObject]:
    return [event for event in events if isinstance(event, CollectedObject)]


def gaps(events: Events) -> list[Gap]:
    return [event for event in events if isinstance(event, Gap)]


def manifest_of(path: Path) -> Manifest:
    return decode_manifest((path / MANIFEST).read_bytes())


def forged(
    path: Path, change: Callable[[list[bytes]], list[bytes]], *, entry: int = 0, **claims: Any
) -> None:
    """Change the lines of a file, and its manifest so that every digest is right; `claims` replaces what it says besides."""
    manifest = manifest_of(path)
    listed = [one for one in manifest.listed if one.file][entry]
    lines = change(gzip.decompress((path / listed.file).read_bytes()).split(b"\n")[:-1])
    content = b"".join(line + b"\n" for line in lines)
    data = gzip.compress(content)
    (path / listed.file).write_bytes(data)
    facts = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "content_bytes": len(content),
        "objects": len(lines),
    }
    new = msgspec.structs.replace(listed, **(facts | claims))
    entries = tuple(new if one is listed else one for one in manifest.listed)
    (path / MANIFEST).write_bytes(encode_manifest(msgspec.structs.replace(manifest, listed=entries)))
