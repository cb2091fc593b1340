"""Bytes of a pickle, one piece at a time, and the two ways in which reading them ends early. Standard library only."""

from __future__ import annotations

from typing import Protocol

MAX_LINE = 1 << 20
_CHUNK = 1 << 16


class MalformedError(Exception):
    """No machine could read on from here."""


class OverLimitError(Exception):
    """It needs more than a pickle of a model does."""


class Readable(Protocol):
    """Something with ``read``."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        ...


class Source:
    """Bytes of a file or archive member, one chunk at a time."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.data = b""
        self.at = 0

    def more(self, size: int) -> bool:
        """Have at least `size` bytes from `at` on; False when there are not so many."""
        parts = [self.data[self.at :]]
        have = len(parts[0])
        while have < size:
            part = self._file.read(max(_CHUNK, size - have))
            if not part:
                break
            parts.append(part)
            have += len(part)
        self.data, self.at = b"".join(parts), 0
        return have >= size

    def take(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            MalformedError: there are not so many.
        """
        if len(self.data) - self.at < size and not self.more(size):
            raise MalformedError("it ends in the middle of an opcode")
        found = self.data[self.at : self.at + size]
        self.at += size
        return found

    def skip(self, size: int) -> None:
        """Go past bytes without keeping them."""
        here = min(size, len(self.data) - self.at)
        self.at += here
        left = size - here
        while left > 0:
            part = self._file.read(min(_CHUNK * 16, left))
            if not part:
                raise MalformedError("it ends in the middle of a value")
            left -= len(part)

    def line(self) -> bytes:
        """Up to the next end of line, which is left out."""
        while True:
            end = self.data.find(b"\n", self.at)
            if end >= 0:
                found = self.data[self.at : end]
                self.at = end + 1
                return found
            if len(self.data) - self.at > MAX_LINE:
                raise OverLimitError("a line without end")
            if not self.more(len(self.data) - self.at + 1):
                raise MalformedError("it ends in the middle of a line")

    def left(self) -> bool:
        """Whether anything stands behind."""
        return self.at < len(self.data) or self.more(1)
