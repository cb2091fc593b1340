"""Digests of files of any size: each file is read once, and a large one not even in the next run when nothing about it changed.

What identifies a file is its path, device, inode, size, and the times of its last change to the nanosecond, that of its inode among
them: a program can set the one back, the other only the kernel. A file that changed a moment ago is not remembered, because it
may change again within the same tick of the clock.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

_PIECE = 1 << 20
_REMEMBERED_FROM = 4 << 20
"""Smaller files are read faster than looked up."""
_SETTLED_NS = 3_000_000_000
_SAY_EVERY = 10.0
_MOST_KNOWN = 200_000
_GIB = 1 << 30
_CHANGED = "the file changed while it was read"


class Memory(Protocol):
    """Where digests of earlier runs are."""

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there."""
        ...

    def write(self, key: bytes, value: bytes) -> None:
        """Remember a value."""
        ...


class UnknownAlgorithmError(Exception):
    """Nothing here can compute it. The text says what would help."""


class Digests:
    """Computes digests, and remembers them.

    Args:
        memory: of earlier runs; None keeps none.
        say: told now and then how far a large file is.
        clock: nanoseconds since 1970.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        say: Callable[[str], None] | None = None,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._memory = memory
        self._say = say
        self._clock = clock
        self._known: dict[bytes, str] = {}
        self._one_at_a_time = threading.Lock()
        self.hashed = 0
        """Bytes that were read to compute digests."""

    def sha256(self, path: Path) -> str:
        """SHA-256 of a file, in hexadecimal.

        Raises:
            OSError: it can't be read, or changes while it is.
        """
        return self.of(path, "sha256")

    def of(self, path: Path, algorithm: str) -> str:
        """Digest of a file, in hexadecimal.

        Args:
            path: of the file.
            algorithm: ``sha256``, ``sha384``, ``sha512``, ``blake2b`` (64 bytes) or ``blake3``.

        Raises:
            UnknownAlgorithmError: `algorithm` is another, or needs a package that is not installed.
            OSError: it can't be read, or changes while it is.
        """
        with path.open("rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            key = _key(path, before, algorithm)
            with self._one_at_a_time:
                found = self._recalled(key, before.st_size)
            if found is None:
                found = self._computed(file, before.st_size, path.name, algorithm)
                after = os.fstat(file.fileno())
                if _key(path, after, algorithm) != key:
                    raise OSError(0, _CHANGED)
                with self._one_at_a_time:
                    self._keep(key, found, before)
            return found

    def _recalled(self, key: bytes, size: int) -> str | None:
        found = self._known.get(key)
        if found is None and self._memory is not None and size >= _REMEMBERED_FROM:
            value = self._memory.read([key]).get(key)
            found = value.hex() if value is not None else None
        return found

    def _keep(self, key: bytes, digest: str, info: os.stat_result) -> None:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = digest
        settled = self._clock() - max(info.st_mtime_ns, info.st_ctime_ns) > _SETTLED_NS
        if self._memory is not None and info.st_size >= _REMEMBERED_FROM and settled:
            self._memory.write(key, bytes.fromhex(digest))

    def _computed(self, file: Any, size: int, name: str, algorithm: str) -> str:
        digest = _hasher(algorithm)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        buffer = bytearray(min(_PIECE, max(size, 1)))
        view, done, next_word = memoryview(buffer), 0, time.monotonic() + _SAY_EVERY
        while count := file.readinto(buffer):
            digest.update(view[:count])
            done += count
            if done > size:  # it may grow faster than it is read
                raise OSError(0, _CHANGED)
            if self._say is not None and time.monotonic() >= next_word:
                next_word = time.monotonic() + _SAY_EVERY
                self._say(f"{algorithm} of {name}: {done / _GIB:.1f} of {size / _GIB:.1f} GiB")
        self.hashed += done
        return str(digest.hexdigest())


def _hasher(algorithm: str) -> Any:
    if algorithm in ("sha256", "sha384", "sha512", "blake2b"):
        return hashlib.new(algorithm)
    if algorithm == "blake3":
        try:
            from blake3 import blake3
        except ImportError:
            raise UnknownAlgorithmError("install fleetaudit[models] for digests in BLAKE3") from None
        return blake3()
    raise UnknownAlgorithmError(f"digests in {algorithm[:40]} are not computed")


def _key(path: Path, info: os.stat_result, algorithm: str) -> bytes:
    parts = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, algorithm)
    text = "\0".join((*map(str, parts), str(path.resolve())))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
