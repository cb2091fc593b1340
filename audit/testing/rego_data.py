"""What Rego tests see below ``data``: the YAML and JSON of their folder, laid out as ``opa test`` does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.foreign.data_files import merge_file, read_data

_NAMES = frozenset({"data.json", "data.yaml", "data.yml"})


class ProgramData(msgspec.Struct, frozen=True, kw_only=True):
    """The data of one program."""

    encoded: bytes
    narrow: str | None = None
    """Why only files called data.json and data.yaml were read; None when all were."""


def read_program_data(places: Sequence[Path], narrow: str | None = None) -> ProgramData:
    """Read everything, or what bears the name of data where everything does not go together.

    ``opa test`` refuses a folder in which manifests lie beside the policies; here the policies' own data is enough.

    Args:
        places: folders and files.
        narrow: why not to try everything.

    Raises:
        ContentError: the files that bear the name are broken or contradict each other.
    """
    if narrow is None:
        try:
            return ProgramData(encoded=_encoded(read_data(places)))
        except ContentError as error:
            narrow = f"{error.file}: {error.message}"
    data: dict[str, Any] = {}
    for place in places:
        for path in [place] if place.is_file() else _named(place):
            keys = () if path == place else path.relative_to(place).parent.parts
            merge_file(data, path, keys)
    return ProgramData(encoded=_encoded(data), narrow=narrow)


def _encoded(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode()


def _named(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name in _NAMES:
                yield Path(place) / name
