"""Which bundles of a folder say that they are about which digest. Nothing is verified here; it only saves work later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.collect.artifacts.reading import UnreadError
from audit.collect.artifacts.signatures.beside import (
    SIGNATURE_SUFFIXES,
    documents_of,
    in_folder,
    looks_like_bundle,
)
from audit.collect.artifacts.signatures.bundle_shape import (
    Envelope,
    bundle_of,
    envelope_of,
    is_envelope,
    parse_json,
)
from audit.collect.artifacts.signatures.statements import Statement, statement_of
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_ENTRIES = 20_000
MAX_SIDE_FILE = 4 << 20
MAX_SIDE_TOTAL = 256 << 20
_MAX_FOLDERS = 64


class FolderIndex:
    """Folders looked through once."""

    def __init__(self) -> None:
        self._folders: dict[Path, dict[str, list[Path]]] = {}

    def about(self, folder: Path, sha256: str) -> list[Path]:
        """Files of the folder with a bundle that names this digest, in order of their names."""
        if folder not in self._folders:
            if len(self._folders) >= _MAX_FOLDERS:
                self._folders.clear()
            self._folders[folder] = _index(folder)
        return self._folders[folder].get(sha256, [])


def documents_in(path: Path) -> list[bytes]:
    """Bundles of a small file.

    Raises:
        UnreadError: it can't be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SIDE_FILE + 1)
    except OSError:
        raise UnreadError("can't be read") from None
    if len(data) > MAX_SIDE_FILE:
        raise UnreadError("too large")
    return documents_of(path.name, data) if looks_like_bundle(path.name, data) else []


def statements_in(folder: Path) -> Iterator[Statement]:
    """What the envelopes of a folder state, whoever made them."""
    for path in _sides(folder):
        try:
            documents = documents_in(path)
        except UnreadError:
            continue
        for raw in documents:
            try:
                envelope = _envelope(parse_json(raw))
                if envelope is not None:
                    yield statement_of(envelope.payload_type, envelope.payload)
            except RefusedError:
                continue


def holds_only_signatures(path: Path) -> bool:
    """Whether a file is a bundle or an envelope and nothing else: its name alone proves nothing, and others would read on."""
    try:
        documents = documents_in(path)
        for raw in documents:
            _envelope(parse_json(raw))
    except (UnreadError, RefusedError):
        return False
    return bool(documents)


def _envelope(document: object) -> Envelope | None:
    if is_envelope(document):
        return envelope_of(document)
    return bundle_of(document).dsse_envelope


def _index(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    total = 0
    for path in _sides(folder):
        total += path.stat().st_size
        if total > MAX_SIDE_TOTAL:
            break
        try:
            documents = documents_in(path)
        except UnreadError:
            continue
        for digest in sorted({digest for raw in documents for digest in _digests(raw)}):
            found.setdefault(digest, []).append(path)
    return found


def _sides(folder: Path) -> Iterator[Path]:
    for index, entry in enumerate(sorted(folder.iterdir())):
        if index >= MAX_ENTRIES:
            return
        if entry.name.lower().endswith(SIGNATURE_SUFFIXES) and in_folder(folder, entry.name) is not None:
            yield entry


def _digests(raw: bytes) -> set[str]:
    """SHA-256 digests that a document claims to be about."""
    try:
        document = parse_json(raw)
        if is_envelope(document):
            envelope = envelope_of(document)
        else:
            bundle = bundle_of(document)
            message = bundle.message_signature
            if message is not None:
                return {message.message_digest.digest.hex()} if message.message_digest is not None else set()
            if bundle.dsse_envelope is None:
                return set()
            envelope = bundle.dsse_envelope
        statement = statement_of(envelope.payload_type, envelope.payload)
    except RefusedError:
        return set()
    return {subject.digests["sha256"] for subject in statement.subjects if "sha256" in subject.digests}
