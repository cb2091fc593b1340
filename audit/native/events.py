"""What the reader says about files: objects, notices, problems, and the end of each file."""

from __future__ import annotations

import msgspec

Path = tuple[str | int, ...]
"""Segments from an object's root: keys and list indexes."""


class DuplicateKey(msgspec.Struct, frozen=True, array_like=True):
    """A mapping key that stands more than once; the last value is read."""

    key: str
    path: Path
    """Path of the key, the key itself last."""
    lines: tuple[int, ...]


class Redaction(msgspec.Struct, frozen=True, array_like=True):
    """A value that was replaced by a marker."""

    path: Path
    reason: str


class Fault(msgspec.Struct, frozen=True, array_like=True):
    """A place of an object that holds something else than the API server takes there."""

    path: Path
    expected: str
    """In words: ``a mapping``, ``a list``, ``a text``."""
    found: str
    """Likewise: what kind of value is there, never the value."""


class DocumentRead(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """One Kubernetes object."""

    token: int
    document: int
    """1-based; every document counts, empty ones too."""
    item: str
    """Place inside a list, for example ``items[0].items[2]``; empty outside lists."""
    line: int
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    generate_name: str
    owner_kind: str
    """Of the controller in ownerReferences; empty when there is none."""
    owner_name: str
    digest: str
    """sha256 (hex) of `raw`."""
    unknown_templates: tuple[Path, ...]
    """Places of containers, found by their shape, that the table of this kind does not name: of the pod template where
    there is one, else of the list or the container."""
    faults: tuple[Fault, ...]
    """Where a pod specification has the wrong shape."""
    duplicates: tuple[DuplicateKey, ...]
    redactions: tuple[Redaction, ...]
    projection: bytes
    """JSON of the projected fields; empty when the kind has no projection."""
    raw: bytes
    """Redacted canonical JSON: keys sorted, no blanks."""


class NoticeRead(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """Something that is no object and hides none.

    Codes: ``empty_document``, ``empty_list``, ``not_a_mapping``, ``not_an_object``, ``list_item_not_object``.
    """

    token: int
    document: int
    line: int
    item: str
    code: str
    message: str


class ProblemRead(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """A document that could not be read. The other documents of its file are read all the same.

    Codes: ``invalid_yaml``, ``invalid_utf8``, ``alias_bomb``, ``recursive_alias``, ``too_deep``,
    ``not_json_representable``, ``template_markup``, ``hidden_document``, ``duplicate_key_in_list``, ``reader_failed``.
    """

    token: int
    document: int
    line: int
    code: str
    message: str


class FileProblem(msgspec.Struct, frozen=True, array_like=True):
    """Why a file could not be read at all: ``too_large``, ``invalid_utf8`` (broken UTF-16, UTF-32), ``reader_failed``."""

    code: str
    message: str
    line: int


class FileDone(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The last event of every file."""

    token: int
    sha256: str
    """Of the file's bytes, hex."""
    documents: int
    """Objects, notices and problems together; empty documents and empty lists are not counted."""
    problem: FileProblem | None


ReadEvent = DocumentRead | NoticeRead | ProblemRead | FileDone
