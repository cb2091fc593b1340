"""Objects on their way from reading to judging: spilled to disk, so that memory does not grow with the fleet."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from audit.errors import CollectionError
from audit.ports import CollectedObject

_LENGTH = struct.Struct(">I")


class Spool:
    """An append-only file of objects, read back in the order written. Removed on close.

    Args:
        folder: where the temporary file goes; the system's temporary folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        # Anonymous where the system allows it: nothing is left behind, whatever ends the process.
        self._file: BinaryIO = tempfile.TemporaryFile(prefix="fleetaudit-", dir=folder)  # noqa: SIM115 - closed in close()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(CollectedObject)
        self._count = 0

    def append(self, item: CollectedObject) -> None:
        """Add one object.

        Raises:
            CollectionError: the disk is full or the file can't be written.
        """
        data = self._encoder.encode(item)
        try:
            self._file.write(_LENGTH.pack(len(data)))
            self._file.write(data)
        except OSError as error:
            raise CollectionError(
                f"no room for collected objects: {error.strerror}",
                suggestion="free space in the temporary folder, or set TMPDIR",
            ) from error
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[CollectedObject]:
        self._file.flush()
        offset = 0
        for _ in range(self._count):
            # Seek each time: several readers may be at different places.
            self._file.seek(offset)
            (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
            yield self._decoder.decode(self._file.read(length))
            offset += _LENGTH.size + length

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
