"""Reads ``fleetaudit.yaml``: every error at once, each with file, line, key and a suggestion."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.authored import MAX_BYTES, Document, parse_document
from audit.config.check import problems_within
from audit.config.fleet import RegisteredCluster, RegisterFile
from audit.config.schema import FileConfig
from audit.config.validate import find_errors
from audit.errors import ConfigError

FILE_NAME = "fleetaudit.yaml"


def load_file(path: Path) -> FileConfig:
    """The file as written; paths in it are not resolved yet.

    Raises:
        ConfigError: the first error, with all further ones in `others`.
    """
    return read_file(path)[0]


def read_file(path: Path) -> tuple[FileConfig, Document[ConfigError]]:
    """Like `load_file`, with the document, which knows the line of every part."""
    return _parse(_bytes_of(path, "configuration"), str(path))


def load_register(path: Path) -> tuple[RegisteredCluster, ...]:
    """The clusters of a register.

    Raises:
        ConfigError: the first error, with all further ones in `others`.
    """
    document, duplicates = parse_document(_bytes_of(path, "register"), str(path), ConfigError)
    errors = [*duplicates, *find_errors(document, RegisterFile)]
    if errors:
        raise _all_of(errors)
    clusters = msgspec.convert(document.value, RegisterFile).clusters
    for key in ("name", "uid"):
        seen: set[str] = set()
        for index, cluster in enumerate(clusters):
            text = getattr(cluster, key)
            if text is not None and text in seen:
                message = f"another cluster of the register has this {key}"
                errors.append(document.error(message, ("clusters", index, key)))
            seen.add(text)
    if errors:
        raise _all_of(errors)
    return clusters


def _bytes_of(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"the {what} cannot be read: {error.strerror or error}", file=str(path)) from None


def _all_of(errors: list[ConfigError]) -> ConfigError:
    errors.sort(key=lambda error: error.line or 0)
    first, *others = errors
    first.others = tuple(others)
    return first


def parse_config(raw: bytes, file: str) -> FileConfig:
    """Like `load_file`, for text that is at hand; `file` is its name in messages."""
    return _parse(raw, file)[0]


def _parse(raw: bytes, file: str) -> tuple[FileConfig, Document[ConfigError]]:
    document, duplicates = parse_document(raw, file, ConfigError)
    errors = [*duplicates, *find_errors(document)]
    if not errors:
        config = msgspec.convert({} if document.value is None else document.value, FileConfig)
        errors = [
            document.error(problem.message, problem.path, suggestion=problem.suggestion)
            for problem in problems_within(config)
        ]
        if not errors:
            return config, document
    raise _all_of(errors)
