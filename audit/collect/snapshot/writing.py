"""The stream of a cluster into files. Memory holds one object and the state of one compressor, however large the cluster is."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
import zlib
from typing import BinaryIO

import msgspec

from audit.collect.cluster.kinds import Served, ServedKind
from audit.collect.cluster.source import RESTARTED, Discovered
from audit.collect.snapshot.form import (
    MANIFEST,
    SIGNATURE,
    Line,
    Listed,
    Manifest,
    Page,
    encode_manifest,
    time_text,
)
from audit.collect.snapshot.signing import Signer
from audit.collect.snapshot.storage import Target
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile, ServerFacts
from audit.ports import CollectedObject, ScopeChoice

_GZIP = 31  # zlib's window bits for a gzip stream; its header carries no name and no time
_FLUSH_BYTES = 1 << 18
_PAGE = re.compile(r"\?page=([0-9]{1,9})\Z", re.ASCII)

Event = CollectedObject | Gap | Notice | ScopeChoice | InputFile


class _KindFile:
    """The file of one kind, on its way."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.objects = self.bytes = self.content_bytes = 0
        self.digest = hashlib.sha256()
        self._stream = stream
        self._gzip = zlib.compressobj(level=6, wbits=_GZIP)
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def add(self, line: bytes) -> None:
        self.objects += 1
        self.content_bytes += len(line) + 1
        self._waiting += (line, b"\n")
        self._waiting_bytes += len(line) + 1
        if self._waiting_bytes >= _FLUSH_BYTES:
            self._flush()

    def finish(self) -> None:
        self._flush()
        self._write(self._gzip.flush())
        self._stream.close()

    def _flush(self) -> None:
        self._write(self._gzip.compress(b"".join(self._waiting)))
        self._waiting.clear()
        self._waiting_bytes = 0

    def _write(self, data: bytes) -> None:
        if data:
            self.digest.update(data)
            self.bytes += len(data)
            self._stream.write(data)


class _Told(msgspec.Struct):
    """What came of one kind beside its objects."""

    pages: list[Page] = []
    gaps: list[Gap] = []
    notices: list[Notice] = []


class SnapshotWriter:
    """Writes what a `ClusterSource` tells. Nothing reads as a snapshot before `finish`.

    Args:
        target: where the files go.
        cluster: its name.
        version: of fleetaudit.
        began: when collecting began; aware.
    """

    def __init__(self, target: Target, *, cluster: str, version: str, began: dt.datetime) -> None:
        self._target = target
        self._cluster = cluster
        self._version = version
        self._began = began
        # No file of an earlier snapshot under the same address may be taken for one of this.
        self._run = secrets.token_hex(4)
        self._encoder = msgspec.json.Encoder()
        self._files: dict[str, _KindFile] = {}
        self._current: tuple[str, _KindFile] | None = None
        self._told: dict[str, _Told] = {}
        self._gaps: list[Gap] = []
        self._notices: list[Notice] = []

    def take(self, event: Event) -> None:
        """One object, gap, notice or page that was read to its end.

        Raises:
            OSError: it can't be written.
        """
        if isinstance(event, CollectedObject):
            self._object(event)
        elif isinstance(event, InputFile):
            path, number = _parted(event.path)
            self._of(path).pages.append(Page(number, event.documents))
        elif isinstance(event, Gap):
            # What runs containers at an odd place is found again, by the tables of whoever judges.
            if event.kind is not GapKind.UNKNOWN_TEMPLATE:
                path, _ = _parted(event.source)
                (self._of(path).gaps if path.startswith("/") else self._gaps).append(event)
        # A list that was begun again is a fact of its kind; see `finish`.
        elif isinstance(event, Notice) and event.code != RESTARTED:
            path, _ = _parted(event.source)
            (self._of(path).notices if path.startswith("/") else self._notices).append(event)

    def finish(
        self, server: ServerFacts | None, found: Discovered, *, ended: dt.datetime, signer: Signer | None
    ) -> Manifest:
        """Write the manifest, and let the snapshot appear.

        Args:
            server: what the server told of itself; None when it wasn't reached.
            found: what discovery told, and what was asked for.
            ended: when collecting ended; aware.
            signer: signs the manifest.

        Raises:
            OSError: it can't be written.
            ReportError: likewise, where the snapshot is put in place.
        """
        self._close_current()
        listed = tuple(self._listed(kind, found) for kind in found.asked)
        paths = {kind.path for kind in found.asked}
        loose = [gap for path, told in self._told.items() if path not in paths for gap in told.gaps]
        known = {kind.key for kind in found.asked}
        served = found.served or Served(kinds=())
        manifest = Manifest(
            cluster=self._cluster,
            collected_at=time_text(self._began),
            finished_at=time_text(ended),
            fleetaudit=self._version,
            server=server,
            rights={entry.kind.key: _right(entry) for entry in listed},
            stale=served.stale,
            not_asked=tuple(kind for kind in served.kinds if kind.key not in known),
            # Whoever judges draws from discovery what follows from it.
            gaps=tuple(gap for gap in (*self._gaps, *loose) if gap not in found.beforehand),
            notices=tuple(self._notices),
            listed=listed,
        )
        data = encode_manifest(manifest)
        if signer is not None:
            self._whole(SIGNATURE, signer.sign(data))
        self._whole(MANIFEST, data)
        self._target.publish()
        return manifest

    def discard(self) -> None:
        """Leave nothing behind."""
        self._target.discard()

    def _whole(self, name: str, data: bytes) -> None:
        with self._target.create(name) as stream:
            stream.write(data)

    def _of(self, path: str) -> _Told:
        return self._told.setdefault(path, _Told())

    def _object(self, item: CollectedObject) -> None:
        path, page = _parted(item.ref.source)
        if self._current is None or self._current[0] != path:
            self._close_current()
            name = f"{len(self._files):04}_{_file_name(path)}-{self._run}.jsonl.gz"
            self._current = (path, _KindFile(name, self._target.create(name)))
        line = Line(
            page=page,
            document=item.ref.document,
            redactions=item.redactions,
            object=msgspec.Raw(item.raw),
        )
        self._current[1].add(self._encoder.encode(line))

    def _close_current(self) -> None:
        if self._current is not None:
            path, file = self._current
            file.finish()
            self._files[path] = file
            self._current = None

    def _listed(self, kind: ServedKind, found: Discovered) -> Listed:
        file, told = self._files.get(kind.path), self._told.get(kind.path, _Told())
        entry = Listed(
            kind=kind,
            pages=tuple(told.pages),
            restarted=kind.key in found.restarted,
            gaps=tuple(told.gaps),
            notices=tuple(told.notices),
        )
        if file is None:
            return entry
        return msgspec.structs.replace(
            entry,
            file=file.name,
            sha256=file.digest.hexdigest(),
            bytes=file.bytes,
            content_bytes=file.content_bytes,
            objects=file.objects,
        )


def _parted(source: str) -> tuple[str, int]:
    """Path of the list, and number of the page."""
    match = _PAGE.search(source)
    return (source[: match.start()], int(match[1])) if match else (source, 1)


def _file_name(path: str) -> str:
    """``apis_apps_v1_deployments``: readable, and safe wherever it lies."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", path.strip("/"))[:140]


def _right(entry: Listed) -> str:
    return entry.gaps[0].kind.value if entry.gaps else "list"
