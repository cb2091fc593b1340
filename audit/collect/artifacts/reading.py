"""What a reader of artifacts is handed, and what it gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from audit.collect.artifacts.digests import Digests
from audit.model.gap import GapKind
from audit.model.subject import EVIDENCE_GROUP

GROUP = EVIDENCE_GROUP
VERSION = "v1"
HEAD_BYTES = 64 << 10


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that may be evidence."""

    path: Path
    label: str
    """The path as people know it."""
    size: int
    """Bytes; 0 for a folder."""
    head: bytes
    """The first bytes, `HEAD_BYTES` at most; empty for a folder."""
    max_bytes: int = 64 << 20
    """Larger files must be streamed, or are `Unread`."""
    content: bytes | None = None
    """All of it, where it is no file on this machine; None for a file or folder."""

    @property
    def name(self) -> str:
        """File name."""
        return self.path.name

    def data(self) -> bytes:
        """The whole file.

        Raises:
            UnreadError: it is larger than `max_bytes`.
            OSError: it can't be read.
        """
        if self.size > self.max_bytes:
            raise UnreadError(
                f"{self.size} bytes, limit {self.max_bytes} (limits.max_file_bytes)", kind=GapKind.TOO_LARGE
            )
        if self.content is not None:
            return self.content
        with self.path.open("rb") as file:
            data = file.read(self.max_bytes + 1)
        if len(data) > self.max_bytes:
            raise UnreadError("the file grew while it was read", kind=GapKind.UNREADABLE)
        return data

    def sha256(self) -> str:
        """Its digest, in hexadecimal.

        Raises:
            OSError: it can't be read.
        """
        return sha256_of(self.path) if self.content is None else hashlib.sha256(self.content).hexdigest()


class UnreadError(Exception):
    """The artifact, or a part of it, could not be looked at: a gap, never a fact.

    Args:
        reason: one line for people, without values of the file.
        kind: why.
        hint: what helps.
    """

    def __init__(self, reason: str, *, kind: GapKind = GapKind.UNREADABLE, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.hint = hint


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One document for the rules."""

    kind: str
    """For example ``Sbom``; its group is `GROUP`."""
    name: str
    """Unique among the artifacts of one file; usually the label of the file, with ``#part`` where there are several."""
    spec: Mapping[str, Any]
    """Facts in plain JSON values. A fact that could not be established is said so (a ``status`` beside it), never left out
    and never guessed, so that a rule can answer `undecided`. A list ``notices`` of ``code``, ``message`` and ``count`` is
    told in the report as well."""

    def document(self) -> dict[str, Any]:
        """The object as rules see it."""
        return {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": self.kind,
            "metadata": {"name": self.name},
            "spec": dict(self.spec),
        }


class ArtifactReader(Protocol):
    """Recognises one family of artifacts by content, and reads it."""

    name: str
    """For messages, for example ``SPDX``."""
    suffixes: frozenset[str]
    """Endings of file names, lower case, that are looked at in folders beside the manifests' own."""
    kinds: frozenset[str]
    """Kinds of its facts: what a file that can't be read may hide."""
    shares: bool
    """True when the file is also read as whatever else it is."""

    def recognises(self, artifact: Artifact) -> bool:
        """Whether this is one of its artifacts. Cheap: name and head only, and never raises."""
        ...

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """The facts.

        Raises:
            UnreadError: it can't be looked at.
            OSError: the file can't be read.
        """
        ...


class Registry:
    """The readers, asked in order. Of those that don't share a file, the first that recognises it reads it.

    Args:
        readers: in the order in which they are asked.
        digests: of files; the readers that share it read a large file once.
    """

    def __init__(self, readers: Sequence[ArtifactReader], digests: Digests | None = None) -> None:
        self._readers = tuple(readers)
        self.digests = digests or Digests()

    @property
    def suffixes(self) -> frozenset[str]:
        """Endings of file names that any reader wants to look at."""
        return frozenset[str]().union(*(reader.suffixes for reader in self._readers))

    def readers_of(self, artifact: Artifact) -> tuple[ArtifactReader, ...]:
        """The readers of an artifact; none when it is none."""
        found: list[ArtifactReader] = []
        taken = False
        for reader in self._readers:
            if (reader.shares or not taken) and reader.recognises(artifact):
                found.append(reader)
                taken = taken or not reader.shares
        return tuple(found)


def look_at(path: Path, label: str, *, max_bytes: int) -> Artifact:
    """An artifact with its head.

    Raises:
        OSError: it can't be read.
    """
    if path.is_dir():
        return Artifact(path=path, label=label, size=0, head=b"", max_bytes=max_bytes)
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return Artifact(path=path, label=label, size=path.stat().st_size, head=head, max_bytes=max_bytes)


def held(name: str, data: bytes, *, max_bytes: int) -> Artifact:
    """An artifact that is no file: it came from elsewhere, and is held in memory."""
    return Artifact(
        path=Path(name), label=name, size=len(data), head=data[:HEAD_BYTES], max_bytes=max_bytes, content=data
    )


def sha256_of(path: Path) -> str:
    """Digest of a file of any size, in hexadecimal.

    Raises:
        OSError: it can't be read.
    """
    return Digests().sha256(path)
