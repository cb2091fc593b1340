"""Reads tar archives in one pass with fixed bounds: nothing is unpacked, and no header makes it hold more than it may.

The standard library reads extended headers whole, however large they say they are.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

BLOCK = 512
MAX_HEADER = 64 << 10
MAX_MEMBERS = 200_000
MAX_UNPACKED = 8 << 30
FREE_UNPACKED = 256 << 20
MAX_RATIO = 200
_CHUNK = 1 << 20
_FILES = b"0\0" + b"7"


class TarError(Exception):
    """The archive is broken, or over its bounds.

    Args:
        reason: one line for people.
        too_large: whether a bound was the reason.
    """

    def __init__(self, reason: str, *, too_large: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.too_large = too_large


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A regular file of an archive."""

    name: str
    size: int
    read: Callable[[int], bytes]
    """Reads on; at most what is left of the file."""


class _Stream(Protocol):
    def read(self, size: int) -> bytes: ...

    def skip(self, size: int) -> None: ...


class _Plain:
    """A tar on disk; what is not wanted is not read."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def skip(self, size: int) -> None:
        if self._file.tell() + size > self._size:
            raise TarError("the archive ends too early")
        self._file.seek(size, 1)


class _Unpacked:
    """A gzip stream; how much comes out of it is bounded, and so is how much for each byte that goes in."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._stream = gzip.GzipFile(fileobj=file)
        self._allowed = min(MAX_UNPACKED, max(FREE_UNPACKED, size * MAX_RATIO))
        self._count = 0

    def read(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except (OSError, EOFError, zlib.error):
            raise TarError("the compressed data is broken") from None
        self._count += len(data)
        if self._count > self._allowed:
            raise TarError("it unpacks to more than is read", too_large=True)
        return data

    def skip(self, size: int) -> None:
        while size > 0:
            data = self.read(min(size, _CHUNK))
            if not data:
                raise TarError("the archive ends too early")
            size -= len(data)


def members(path: Path) -> Iterator[Member]:
    """The regular files of an archive, in order. Links, devices and folders are passed over and never followed.

    Raises:
        TarError: it is broken, or over its bounds.
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        size = path.stat().st_size
        yield from _members(_Unpacked(file, size) if packed else _Plain(file, size))


def first_name(head: bytes) -> str | None:
    """Name of the first member, from the first bytes of an archive; None when they are not those of one."""
    if head[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(31).decompress(head, 2 * BLOCK)
        except zlib.error:
            return None
    if len(head) < BLOCK or not _checksum_fits(head[:BLOCK]):
        return None
    return _name(head[:BLOCK])


def _members(stream: _Stream) -> Iterator[Member]:
    long_name: str | None = None
    long_size: int | None = None
    for _ in range(MAX_MEMBERS):
        header = _exactly(stream, BLOCK, at_end=True)
        if not header or not header.strip(b"\0"):
            return
        if not _checksum_fits(header):
            raise TarError("a header is broken")
        kind, size = header[156:157], _number(header[124:136])
        if kind in (b"x", b"g", b"L", b"K"):
            data = _extension(stream, size)
            if kind == b"x":
                values = _pax(data)
                long_name = values.get("path", long_name)
                long_size = _decimal(values["size"]) if "size" in values else long_size
                if any(key.startswith("GNU.sparse") for key in values):
                    raise TarError("sparse files are not supported")
            elif kind == b"L":
                long_name = data.rstrip(b"\0").decode("utf-8", "replace")
            continue
        if kind == b"S":
            raise TarError("sparse files are not supported")
        name = long_name if long_name is not None else _name(header)
        size = long_size if long_size is not None else size
        long_name = long_size = None
        if kind not in _FILES:
            stream.skip(_padded(size) if kind not in b"123456" else 0)
            continue
        left = size

        def read(wanted: int) -> bytes:
            nonlocal left
            data = stream.read(min(wanted, left))
            left -= len(data)
            return data

        yield Member(name=name, size=size, read=read)
        stream.skip(left + _padded(size) - size)
    raise TarError(f"more than {MAX_MEMBERS} members", too_large=True)


def _extension(stream: _Stream, size: int) -> bytes:
    if size > MAX_HEADER:
        raise TarError("an extended header is too large", too_large=True)
    data = _exactly(stream, size)
    stream.skip(_padded(size) - size)
    return data


def _exactly(stream: _Stream, size: int, *, at_end: bool = False) -> bytes:
    data = b""
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    if len(data) < size and not (at_end and not data):
        raise TarError("the archive ends too early")
    return data


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _checksum_fits(header: bytes) -> bool:
    try:
        stated = int(header[148:156].strip(b" \0") or b"-1", 8)
    except ValueError:
        return False
    return stated == sum(header[:148]) + 8 * 32 + sum(header[156:])


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0")[0]
    prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "replace")


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        value = int.from_bytes(field, "big") & ((1 << 95) - 1)
    else:
        try:
            value = int(field.strip(b" \0") or b"0", 8)
        except ValueError:
            raise TarError("a header is broken") from None
    if not 0 <= value < 1 << 62:
        raise TarError("a header is broken")
    return value


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise TarError("a header is broken")
    return int(text)


def _pax(data: bytes) -> dict[str, str]:
    """Records of the form ``LENGTH KEY=VALUE``."""
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        length, space, _ = data[at : at + 20].partition(b" ")
        if not space or not length.isdigit() or not len(length) + 1 < int(length) <= len(data) - at:
            raise TarError("an extended header is broken")
        record = data[at + len(length) + 1 : at + int(length)]
        key, _, value = record.rstrip(b"\n").partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        at += int(length)
    return found
