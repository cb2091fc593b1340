"""Reads ``fleetaudit.yaml``: every error at once, each with file, line, key and a suggestion."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.config.check import problems_within
from audit.config.schema import FileConfig
from audit.config.validate import find_errors
from audit.config.yaml_document import MAX_BYTES, parse_document
from audit.errors import ConfigError

FILE_NAME = "fleetaudit.yaml"


def load_file(path: Path) -> FileConfig:
    """The file as written; paths in it are not resolved yet.

    Raises:
        ConfigError: the first error, with all further ones in `others`.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"the configuration cannot be read: {error.strerror or error}", file=str(path)
        ) from None
    return parse_config(raw, str(path))


def parse_config(raw: bytes, file: str) -> FileConfig:
    """Like `load_file`, for text that is at hand; `file` is its name in messages."""
    document = parse_document(raw, file)
    errors = [*document.duplicates, *find_errors(document)]
    if not errors:
        config = msgspec.convert(document.data, FileConfig)
        errors = [document.error(p.path, p.message, p.suggestion) for p in problems_within(config)]
        if not errors:
            return config
    errors.sort(key=lambda error: error.line or 0)
    raise combined(errors)


def combined(errors: list[ConfigError]) -> ConfigError:
    """The first error, carrying the others."""
    first = errors[0]
    return ConfigError(
        first.message,
        file=first.file,
        line=first.line,
        column=first.column,
        key=first.key,
        suggestion=first.suggestion,
        others=errors[1:],
    )
