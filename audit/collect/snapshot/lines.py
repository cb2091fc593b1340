"""The lines of one file of a snapshot. Nothing that it says of itself is believed without a bound."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from audit.collect.cluster.kinds import ServedKind
from audit.collect.snapshot.form import Line, Listed, SnapshotError
from audit.collect.snapshot.storage import Place
from audit.model.gap import GapKind

_CHUNK = 1 << 18
_GZIP = 31
MAX_PROBLEMS = 20
"""Lines that may be wrong before the rest of a file is left alone."""


class LineLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one file may cost."""

    max_content_bytes: int
    """Unpacked, for one kind."""
    max_line_bytes: int


class LineProblem(msgspec.Struct, frozen=True):
    """A line that is not taken."""

    number: int
    reason: str


class _Meta(msgspec.Struct):
    uid: str = ""
    name: str = ""
    namespace: str = ""


class _Head(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)


def check_file(place: Place, entry: Listed) -> None:
    """Compare a file with its digest, before any line of it is looked at.

    Raises:
        SnapshotError: it is another one, or can't be read.
    """
    digest, size = hashlib.sha256(), 0
    with _opened(place, entry) as stream:
        while chunk := _chunk(stream, entry):
            size += len(chunk)
            if size > entry.bytes:
                raise SnapshotError(
                    GapKind.UNTRUSTED, f"{entry.file} is longer than its manifest says", hint=_AGAIN
                )
            digest.update(chunk)
    if size < entry.bytes:
        reason = f"{entry.file} is truncated: {size} of {entry.bytes} bytes"
        raise SnapshotError(GapKind.UNREADABLE, reason, hint=_AGAIN)
    if digest.hexdigest() != entry.sha256:
        raise SnapshotError(
            GapKind.UNTRUSTED, f"{entry.file} was changed: it has another digest", hint=_AGAIN
        )


def lines_of(place: Place, entry: Listed, limits: LineLimits) -> Iterator[Line | LineProblem]:
    """The objects of a file, each once, and the lines that are none.

    Raises:
        SnapshotError: the rest can't be had; lines before that were given.
    """
    check = _Check(entry.kind)
    problems = taken = 0
    for number, text in enumerate(_texts(place, entry, limits), start=1):
        found = check.line(number, text)
        if isinstance(found, LineProblem):
            problems += 1
            if problems > MAX_PROBLEMS:
                raise SnapshotError(
                    GapKind.UNREADABLE, f"{entry.file}: more than {MAX_PROBLEMS} lines are wrong"
                )
        else:
            taken += 1
        yield found
    if taken + problems != entry.objects:
        reason = f"{entry.file} has {taken + problems} lines, and its manifest says {entry.objects}"
        raise SnapshotError(GapKind.UNTRUSTED, reason, hint=_AGAIN)


class _Check:
    """Holds each line against what a collector writes."""

    def __init__(self, kind: ServedKind) -> None:
        self._kind = kind
        self._api_version = f"{kind.group}/{kind.version}" if kind.group else kind.version
        self._seen: set[int] = set()
        self._position = (0, 0)
        self._lines = msgspec.json.Decoder(Line)
        self._heads = msgspec.json.Decoder(_Head)

    def line(self, number: int, text: bytes) -> Line | LineProblem:
        try:
            line = self._lines.decode(text)
            head = self._heads.decode(line.object)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return LineProblem(number, "is no line of a snapshot")
        if (head.api_version, head.kind) != (self._api_version, self._kind.kind):
            return LineProblem(number, f"is no {self._kind.kind} of {self._api_version}")
        identity: Any = head.metadata.uid or (head.metadata.namespace, head.metadata.name)
        if hash(identity) in self._seen:
            return LineProblem(number, "tells an object a second time")
        if (line.page, line.document) <= self._position:
            return LineProblem(number, "stands at the wrong place")
        self._seen.add(hash(identity))
        self._position = (line.page, line.document)
        return line


def _texts(place: Place, entry: Listed, limits: LineLimits) -> Iterator[bytes]:
    unpacked = zlib.decompressobj(wbits=_GZIP)
    most = min(entry.content_bytes, limits.max_content_bytes)
    size, rest = 0, b""
    with _opened(place, entry) as stream:
        packed = _chunk(stream, entry)
        while packed and not unpacked.eof:
            try:
                data = unpacked.decompress(packed, _CHUNK)
            except zlib.error as error:
                raise SnapshotError(
                    GapKind.UNREADABLE, f"{entry.file} can't be unpacked", hint=_AGAIN
                ) from error
            size += len(data)
            if size > most:
                raise _too_large(entry, limits)
            *whole, rest = (rest + data).split(b"\n")
            if any(len(text) > limits.max_line_bytes for text in (*whole, rest)):
                reason = (
                    f"{entry.file}: a line of more than {limits.max_line_bytes} bytes (limits.max_file_bytes)"
                )
                raise SnapshotError(GapKind.TOO_LARGE, reason)
            yield from whole
            packed = unpacked.unconsumed_tail or _chunk(stream, entry)
    if not unpacked.eof or rest or packed or unpacked.unused_data or size != entry.content_bytes:
        raise SnapshotError(GapKind.UNREADABLE, f"{entry.file} doesn't end as its manifest says", hint=_AGAIN)


_AGAIN = "collect the cluster again"


def _too_large(entry: Listed, limits: LineLimits) -> SnapshotError:
    if entry.content_bytes > limits.max_content_bytes:
        reason = (
            f"{entry.file} unpacks to more than {limits.max_content_bytes} bytes (snapshots.max_kind_bytes)"
        )
    else:
        reason = f"{entry.file} unpacks to more than its manifest says"
    return SnapshotError(GapKind.TOO_LARGE, reason)


def _opened(place: Place, entry: Listed) -> BinaryIO:
    try:
        return place.open(entry.file)
    except FileNotFoundError as error:
        raise SnapshotError(GapKind.UNREADABLE, f"{entry.file} is missing", hint=_AGAIN) from error
    except OSError as error:
        raise _unreadable(entry, error) from error


def _chunk(stream: BinaryIO, entry: Listed) -> bytes:
    try:
        return stream.read(_CHUNK)
    except OSError as error:
        raise _unreadable(entry, error) from error


def _unreadable(entry: Listed, error: OSError) -> SnapshotError:
    kind = GapKind.FORBIDDEN if isinstance(error, PermissionError) else GapKind.UNREADABLE
    return SnapshotError(kind, f"{entry.file} can't be read: {error.strerror or error}")
