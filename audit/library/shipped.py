"""Where the shipped catalogs, mappings, checks and meanings are, so that callers need no file names."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.resources import content_dir


class ShippedControls(msgspec.Struct, frozen=True, kw_only=True):
    """Files under ``controls/``."""

    catalogs: tuple[Path, ...]
    mappings: tuple[Path, ...]
    checks: Path
    meanings: Path


def shipped_controls() -> ShippedControls:
    """The shipped files, sorted by name.

    Raises:
        ContentError: the installation lacks the folder.
    """
    folder = content_dir("controls")
    return ShippedControls(
        catalogs=tuple(sorted((folder / "catalogs").glob("*.yaml"))),
        mappings=tuple(sorted((folder / "mappings").glob("*.yaml"))),
        checks=folder / "checks.yaml",
        meanings=folder / "meanings.yaml",
    )
