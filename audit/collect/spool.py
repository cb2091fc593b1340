"""Objects on their way from reading to judging: spilled to disk, so that memory does not grow with the fleet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Self

import msgspec

from audit.errors import CollectionError
from audit.ports import CollectedObject
from audit.spill import Spill

_OF_TEMPLATES = frozenset({"ReplicaSet", "ReplicationController", "Job"})


class Spool:
    """An append-only store of objects, in the order written, but what a controller made behind what may be its controller.

    A failure of both is told once, of the controller (`audit.evaluate.runner`), and which file was read first must not
    decide whether it is counted twice. Removed on close.

    Args:
        folder: where temporary files go; the system's temporary folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._spills: dict[int, Spill] = {}
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(CollectedObject)

    def append(self, item: CollectedObject) -> None:
        """Add one object.

        Raises:
            CollectionError: the disk is full or the file can't be written.
        """
        try:
            self._spill(_links_below(item)).append(self._encoder.encode(item))
        except OSError as error:
            raise CollectionError(
                f"no room for collected objects: {error.strerror}",
                suggestion="free space in the temporary folder, or set TMPDIR",
            ) from error

    def _spill(self, links: int) -> Spill:
        spill = self._spills.get(links)
        if spill is None:
            spill = self._spills[links] = Spill(self._folder)
        return spill

    def __len__(self) -> int:
        return sum(map(len, self._spills.values()))

    def __iter__(self) -> Iterator[CollectedObject]:
        spills = [self._spills[links] for links in sorted(self._spills)]
        return map(self._decoder.decode, chain.from_iterable(spills))

    def close(self) -> None:
        """Give the space back."""
        for spill in self._spills.values():
            spill.close()
        self._spills.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _links_below(item: CollectedObject) -> int:
    """How far down the chain of controllers it can stand: a workload of an operator, a set or job of it, their pods."""
    if item.ref.derived:
        return 4  # nobody wrote it: last
    if item.controller is None:
        return 0
    if item.ref.kind == "Pod":
        return 3
    return 2 if item.ref.kind in _OF_TEMPLATES else 1
