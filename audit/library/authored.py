"""Authored content from files: shipped ones are called ``controls/...`` wherever they are installed."""

from __future__ import annotations

from pathlib import Path

from audit import authored
from audit.authored import MAX_BYTES, KeyPath
from audit.errors import ContentError
from audit.resources import content_dir

__all__ = ["Document", "Path_", "parse_document", "read_document"]

Document = authored.Document[ContentError]
Path_ = KeyPath


def read_document(path: Path) -> Document:
    """Read and parse one YAML (or JSON) file.

    Raises:
        ContentError: it cannot be read, or is not plain YAML within the bounds; names the line where known.
    """
    name = _shown(path)
    try:
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise authored.too_large(name, ContentError)
        data = path.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or 'input/output error'}", file=name) from error
    return parse_document(data, name)


def parse_document(data: bytes, name: str) -> Document:
    """Parse bytes that stand for the file `name`; otherwise as `read_document`."""
    document, duplicates = authored.parse_document(data, name, ContentError)
    if duplicates:
        first, *others = duplicates
        first.others = tuple(others)
        raise first
    return document


def _shown(path: Path) -> str:
    """Equal on every machine for shipped files, so that results which name them are equal too."""
    try:
        folder = content_dir("controls")
    except ContentError:
        return str(path)
    return f"controls/{path.relative_to(folder).as_posix()}" if path.is_relative_to(folder) else str(path)
