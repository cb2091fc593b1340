"""Reading manifests as Kubernetes reads them, in the child."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.native import frames
from audit.native.events import FileDone, FileProblem, Path, ReadEvent
from audit.native.frames import Kind, Message
from audit.native.owner import ChildOwner


class ReadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one file or document may cost."""

    max_file_bytes: int = 64 << 20
    max_depth: int = 500
    max_nodes: int = 1_000_000
    """Nodes that the aliases of one document may add; plain nodes are not counted."""
    memory_bytes: int = 2 << 30
    """Resident memory of the child."""
    document_seconds: float = 30.0
    """The child is killed when a document takes three times as long."""


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """One file to read."""

    token: int
    """Any number from 0 below 2**32; comes back in every event of this file."""
    path: str
    data: bytes


class PathsWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Paths of one object whose places are asked for."""

    document: int
    item: str = ""
    paths: tuple[Path, ...]


class PositionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All places asked for in one file. Ask in the order of the documents: each is then parsed once."""

    path: str
    data: bytes
    wanted: tuple[PathsWanted, ...]


class Position(msgspec.Struct, frozen=True, array_like=True):
    """A point in a file, counted from 1; line 0 means not known."""

    line: int
    column: int
    approximate: bool
    """True when the path does not exist and this is its nearest existing ancestor."""


class Reader(ChildOwner):
    """Reads files in one child.

    Args:
        jobs: cores to use.
        limits: what one file or document may cost.
        projections: dotted fields to project, by kind key (``group/Kind``; ``*`` stands for any key or index).
        pod_template_table: entries of ``rego/pod_templates.yaml`` by kind key; ``path``, ``holds`` and ``merged`` count.
    """

    def __init__(
        self,
        *,
        jobs: int,
        limits: ReadLimits | None = None,
        projections: Mapping[str, Sequence[str]] | None = None,
        pod_template_table: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self._limits = limits or ReadLimits()
        super().__init__(
            "read",
            jobs=jobs,
            memory_bytes=self._limits.memory_bytes,
            item_seconds=self._limits.document_seconds,
        )
        self._configuration = msgspec.json.encode(
            {
                "limits": {
                    "max_file_bytes": self._limits.max_file_bytes,
                    "max_depth": self._limits.max_depth,
                    "max_nodes": self._limits.max_nodes,
                    "document_ms": int(self._limits.document_seconds * 1000),
                },
                "projections": {
                    kind: [field.split(".") for field in fields]
                    for kind, fields in (projections or {}).items()
                },
                "pod_templates": pod_template_table or {},
            }
        )

    def _told_first(self) -> Iterable[tuple[Kind, bytes]]:
        return ((Kind.CONFIGURE, self._configuration),)

    def read(self, files: Iterable[SourceText]) -> Iterator[ReadEvent]:
        """Events of all files in the order given, documents in order, each file closed by a `FileDone`."""
        yield from self._supervisor.run(_Reading(self._limits.max_file_bytes), files)

    def positions(self, requests: Iterable[PositionRequest]) -> Iterator[list[list[Position]]]:
        """For each request, a list per wanted entry with a position per path."""
        yield from self._supervisor.run(_Positions(), requests)


@functools.cache
def _event_decoder() -> msgspec.msgpack.Decoder[list[ReadEvent]]:
    return msgspec.msgpack.Decoder(list[ReadEvent])


class _Reading:
    """Files to events."""

    kind = Kind.BATCH
    last = FileDone

    def __init__(self, max_file_bytes: int) -> None:
        self._max_file_bytes = max_file_bytes

    def size(self, item: SourceText) -> int:
        return len(item.data) + 16 if self._fits(item) else 16

    def _fits(self, item: SourceText) -> bool:
        return len(item.data) <= self._max_file_bytes

    def encode(self, items: list[SourceText]) -> bytes:
        pieces = [frames.U32.pack(len(items))]
        for item in items:
            pieces.append(frames.U32.pack(item.token))
            # A file over the limit is not worth the way: its last event is written here, see decode.
            pieces += frames.field(item.data if self._fits(item) else b"")
        return b"".join(pieces)

    def decode(self, message: Message, items: list[SourceText]) -> Iterator[ReadEvent]:
        if message.kind != Kind.PART:
            return
        oversize = {item.token: item for item in items if not self._fits(item)}
        for event in _event_decoder().decode(message.payload):
            if oversize and isinstance(event, FileDone) and event.token in oversize:
                yield self._too_large(oversize[event.token])
            else:
                yield event

    def _too_large(self, item: SourceText) -> FileDone:
        message = f"the file has {len(item.data)} bytes, more than the {self._max_file_bytes} allowed"
        return FileDone(item.token, _sha256(item), 0, FileProblem("too_large", message, 0))

    def give_up(self, item: SourceText, reason: str) -> ReadEvent:
        return FileDone(item.token, _sha256(item), 0, FileProblem("reader_failed", reason, 0))


def _sha256(item: SourceText) -> str:
    return hashlib.sha256(item.data).hexdigest()


class _Positions:
    """Requests to places."""

    kind = Kind.POSITIONS
    last = list

    def size(self, item: PositionRequest) -> int:
        return len(item.data) + 64 * len(item.wanted)

    def encode(self, items: list[PositionRequest]) -> bytes:
        pieces = [frames.U32.pack(len(items))]
        for item in items:
            pieces += frames.field(item.data)
            pieces += frames.field(msgspec.json.encode(item.wanted))
        return b"".join(pieces)

    def decode(self, message: Message, _items: list[PositionRequest]) -> list[list[list[Position]]]:
        if message.kind != Kind.DONE:
            return []
        return msgspec.msgpack.decode(message.payload, type=list[list[list[Position]]])

    def give_up(self, item: PositionRequest, _reason: str) -> list[list[Position]]:
        return [[Position(0, 0, approximate=True) for _ in wanted.paths] for wanted in item.wanted]
