"""Byte strings set aside on disk, in the order written, and read back any number of times at once.

The file has no name where the system allows it: nothing is left behind, whatever ends the process.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

_LENGTH = struct.Struct(">I")
_CHUNK = 1 << 20


class Spill:
    """An append-only temporary file of records.

    Args:
        folder: where the file goes; the system's temporary folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(prefix="fleetaudit-", dir=folder)  # noqa: SIM115 - closed in close()
        self._count = 0

    def append(self, record: bytes) -> None:
        """Add one record.

        Raises:
            OSError: the disk is full.
        """
        try:
            self._file.write(_LENGTH.pack(len(record)))
            self._file.write(record)
        except OSError as error:
            raise _no_room(error) from None
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        """The records. Reading moves no shared file position, so several readers may be at different places."""
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from None
        descriptor = self._file.fileno()
        offset = 0
        chunk = b""
        start = 0
        for _ in range(self._count):
            if len(chunk) - start < _LENGTH.size:
                chunk, start = _read(descriptor, offset, _CHUNK), 0
            (length,) = _LENGTH.unpack_from(chunk, start)
            end = start + _LENGTH.size + length
            if end > len(chunk):
                chunk, start = _read(descriptor, offset, max(_CHUNK, _LENGTH.size + length)), 0
                end = _LENGTH.size + length
            yield chunk[start + _LENGTH.size : end]
            offset += end - start
            start = end

    def close(self) -> None:
        """Give the space back. What could not be written any more was told before, and is thrown away now."""
        with contextlib.suppress(OSError):
            self._file.close()


def _no_room(error: OSError) -> OSError:
    return OSError(error.errno, f"{error.strerror} for temporary files; TMPDIR names another folder for them")


def _read(descriptor: int, offset: int, wanted: int) -> bytes:
    """`wanted` bytes from `offset`, fewer only at the end of the file."""
    parts: list[bytes] = []
    while wanted > 0:
        part = os.pread(descriptor, wanted, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        wanted -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
