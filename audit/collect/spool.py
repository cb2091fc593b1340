"""Objects on their way from reading to judging: spilled to disk, so that memory does not grow with the fleet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec

from audit.errors import CollectionError
from audit.ports import CollectedObject
from audit.spill import Spill


class Spool:
    """An append-only file of objects, read back in the order written. Removed on close.

    Args:
        folder: where the temporary file goes; the system's temporary folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._spill = Spill(folder)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(CollectedObject)

    def append(self, item: CollectedObject) -> None:
        """Add one object.

        Raises:
            CollectionError: the disk is full or the file can't be written.
        """
        try:
            self._spill.append(self._encoder.encode(item))
        except OSError as error:
            raise CollectionError(
                f"no room for collected objects: {error.strerror}",
                suggestion="free space in the temporary folder, or set TMPDIR",
            ) from error

    def __len__(self) -> int:
        return len(self._spill)

    def __iter__(self) -> Iterator[CollectedObject]:
        return map(self._decoder.decode, self._spill)

    def close(self) -> None:
        """Give the space back."""
        self._spill.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
