"""What a signature is about: a file, some bytes, or only a digest of something that is not here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from audit.collect.artifacts.digests import Digests, UnknownAlgorithmError
from audit.collect.artifacts.signatures.verdicts import RefusedError

ALGORITHMS = ("sha256", "sha384", "sha512")


class Content(Protocol):
    """Something signed."""

    def digest(self, algorithm: str) -> bytes:
        """Its digest; raises `RefusedError` when it can't be had."""
        ...

    def data(self) -> bytes:
        """All of it; raises `RefusedError` when it can't be had."""
        ...


class BytesContent:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def digest(self, algorithm: str) -> bytes:
        """Its digest."""
        return hashlib.new(algorithm, self._data).digest()

    def data(self) -> bytes:
        """All of it."""
        return self._data


class DigestContent:
    """Something of which nothing is known but digests."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = digests

    def digest(self, algorithm: str) -> bytes:
        """Its digest."""
        found = self._digests.get(algorithm)
        if found is None:
            raise RefusedError("no_artifact")
        return found

    def data(self) -> bytes:
        """Never at hand."""
        raise RefusedError("no_artifact")


class FileContent:
    """A file, read at most once for each digest.

    Args:
        path: where it is.
        max_bytes: a larger one is not hashed.
        max_memory: a larger one is not read whole.
        digests: computes them, and knows those that were computed before.
    """

    def __init__(
        self, path: Path, *, max_bytes: int, max_memory: int, digests: Digests | None = None
    ) -> None:
        self.path = path
        self._digests = digests or Digests()
        self._max_bytes = max_bytes
        self._max_memory = max_memory
        self._known: dict[str, bytes] = {}

    def digest(self, algorithm: str) -> bytes:
        """Its digest."""
        if algorithm not in self._known:
            self._known[algorithm] = self._hash(algorithm)
        return self._known[algorithm]

    def data(self) -> bytes:
        """All of it."""
        try:
            with self.path.open("rb") as file:
                data = file.read(self._max_memory + 1)
        except OSError:
            raise RefusedError("artifact_unreadable") from None
        if len(data) > self._max_memory:
            raise RefusedError("artifact_too_large")
        return data

    def _hash(self, algorithm: str) -> bytes:
        try:
            if self.path.stat().st_size > self._max_bytes:
                raise RefusedError("artifact_too_large")
            return bytes.fromhex(self._digests.of(self.path, algorithm))
        except OSError:
            raise RefusedError("artifact_unreadable") from None
        except UnknownAlgorithmError:
            raise RefusedError("unsupported_hash") from None
