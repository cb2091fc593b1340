"""Which folder is that of a model, and which of its files stands for it."""

from __future__ import annotations

from pathlib import Path, PurePath

from audit.collect.artifacts.model.config_files import CONFIGS, looks_like_config
from audit.collect.artifacts.model.recognition import MODEL_ENDINGS, format_of
from audit.collect.artifacts.reading import HEAD_BYTES
from audit.collect.artifacts.sbom.decoding import peek

MAX_ABOVE = 4
_MAX_ENTRIES = 20_000
_MAX_KNOWN = 1000
_WEIGHTS = MODEL_ENDINGS - {".npy", ".npz"}
"""Arrays by themselves are data, and no model. Other files are not opened: a folder of manifests may hold thousands."""


class Places:
    """Folders looked through once."""

    def __init__(self) -> None:
        self._standing: dict[Path, tuple[str | None, str | None]] = {}

    def stands_for(self, path: Path, label: str) -> bool:
        """Whether a file is the one that its folder's model is told of."""
        config, weights = self._of(path.parent)
        if path.name != (config or weights):
            return False
        # Parts of a model lie in folders below its configuration (diffusers, sentence-transformers).
        above = min(max(len(PurePath(label).parts) - 2, 0), MAX_ABOVE)
        return not any(self._of(folder)[0] for folder in list(path.parent.parents)[:above])

    def is_model(self, folder: Path) -> bool:
        """Whether a folder holds a model, or a part of one."""
        return any(self._of(folder))

    def _of(self, folder: Path) -> tuple[str | None, str | None]:
        """Names of its configuration and of its first file with weights."""
        if folder not in self._standing:
            if len(self._standing) >= _MAX_KNOWN:
                self._standing.clear()
            self._standing[folder] = _look(folder)
        return self._standing[folder]


def _look(folder: Path) -> tuple[str | None, str | None]:
    try:
        names = sorted(entry.name for entry in list(folder.iterdir())[:_MAX_ENTRIES])
    except OSError:
        return None, None
    config = next(
        (name for name in CONFIGS if name in names and looks_like_config(name, peek(_head(folder / name)))),
        None,
    )
    if config is not None:
        return config, None
    weights = (
        name
        for name in names
        if PurePath(name).suffix.lower() in _WEIGHTS and format_of(name, _head(folder / name)) is not None
    )
    return None, next(weights, None)


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""
