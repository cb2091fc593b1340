"""Data that policies read below ``data``: YAML and JSON, laid out as OPA's own loader does.

Files straight below a named folder are merged into ``data``; a folder below it becomes a key.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.errors import ContentError
from audit.library.kyverno.go_yaml import read_documents

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_MAX_BYTES = 64 << 20


def read_data(paths: Sequence[Path]) -> dict[str, Any]:
    """Everything, as one document.

    Raises:
        ContentError: a file is missing, broken, no mapping, or contradicts another one.
    """
    data: dict[str, Any] = {}
    for path in paths:
        if path.is_file():
            _merge(data, _document(path), path)
        elif path.is_dir():
            for file, keys in _files(path):
                merge_file(data, file, keys)
        else:
            raise ContentError("no such data file or folder", file=str(path))
    return data


def merge_file(data: dict[str, Any], file: Path, keys: Sequence[str]) -> None:
    """Put a file's document into data, below these keys.

    Raises:
        ContentError: it is broken, no mapping, or contradicts what is there.
    """
    content: Any = _document(file)
    for key in reversed(keys):
        content = {key: content}
    _merge(data, content, file)


def _files(root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            if path.suffix in _SUFFIXES and path.is_file():
                yield path, path.relative_to(root).parent.parts


def _document(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ContentError(f"is larger than {_MAX_BYTES >> 20} MiB", file=str(path))
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"cannot be read: {error}", file=str(path)) from error
    documents = list(read_documents(text, str(path)))
    for document in documents:
        if document.error is not None:
            raise document.error
    if len(documents) != 1:
        raise ContentError(f"holds {len(documents)} documents; one is expected", file=str(path))
    value = documents[0].value
    if not isinstance(value, dict):
        raise ContentError("is no mapping", file=str(path))
    return value


def _merge(into: dict[str, Any], other: dict[str, Any], file: Path) -> None:
    for key, value in other.items():
        if key not in into:
            into[key] = value
        elif isinstance(into[key], dict) and isinstance(value, dict):
            _merge(into[key], value, file)
        elif into[key] != value:
            raise ContentError(f"{key} is set twice, differently", file=str(file), key=key)
