"""Reads ``fleetaudit.yaml``: every error at once, each with file, line, key and a suggestion."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.authored import MAX_BYTES, Document, parse_document
from audit.config.check import problems_within
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
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"the configuration cannot be read: {error.strerror or error}", file=str(path)
        ) from None
    return _parse(raw, str(path))


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
    errors.sort(key=lambda error: error.line or 0)
    first, *others = errors
    first.others = tuple(others)
    raise first
