"""Which signature belongs to which file: by name, in the same folder."""

from __future__ import annotations

from pathlib import Path

from audit.collect.artifacts.reading import UnreadError
from audit.model.gap import GapKind

MAX_LINES = 1000
BUNDLE_SUFFIXES = (".sigstore.json", ".sigstore", ".bundle", ".intoto.jsonl", ".intoto.json", ".jsonl")
SIGNATURE_SUFFIXES = (*BUNDLE_SUFFIXES, ".sig")
_MARKS = (
    (b'"application/vnd.dev.sigstore.bundle',),
    (b'"payloadType"', b'"signatures"', b'"payload"'),
    (b'"base64Signature"', b'"rekorBundle"'),
)


def looks_like_bundle(name: str, head: bytes) -> bool:
    """Whether a file holds bundles or envelopes, as far as its name and first bytes tell."""
    lower = name.lower()
    if lower.endswith((".sigstore.json", ".sigstore", ".intoto.jsonl", ".intoto.json")):
        return True
    start = head.lstrip()[:1]
    if lower.endswith(".bundle"):
        return start == b"{"
    return start == b"{" and any(all(mark in head for mark in marks) for marks in _MARKS)


def without_suffix(name: str) -> str | None:
    """Name of what a signature is about; None when its own name does not say."""
    lower = name.lower()
    for suffix in SIGNATURE_SUFFIXES:
        if lower.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return None


def in_folder(folder: Path, name: str) -> Path | None:
    """A regular file of the folder, or None. Names come from signatures, so they may try to lead elsewhere."""
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name or len(name) > 255:
        return None
    path = folder / name
    try:
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            return None
    except OSError:
        return None
    return path


def is_signature(name: str) -> bool:
    """Whether a name is that of a signature."""
    return name.lower().endswith(SIGNATURE_SUFFIXES)


def documents_of(name: str, data: bytes) -> list[bytes]:
    """The documents of a file: one, or one a line where its name says so.

    Raises:
        UnreadError: there are too many.
    """
    if not name.lower().endswith(".jsonl"):
        return [data]
    lines = [line for line in data.splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        raise UnreadError(f"{len(lines)} signatures, limit {MAX_LINES}", kind=GapKind.TOO_LARGE)
    return lines or [data]
