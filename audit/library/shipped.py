"""Where the shipped catalogs, mappings, checks, meanings and Kyverno policies are, so that callers need no file names."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.errors import ConfigError
from audit.library.policy_source import PolicySource
from audit.resources import content_dir

BUILTIN = "builtin:"
"""Beginning of the names of shipped packs, where paths of policies stand otherwise."""
_CEL = "-cel"
_PACKS = {"builtin:kyverno": False, "builtin:kyverno-cel": True}
"""Name of a pack to whether its policies are those written in CEL."""


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


def kyverno_pack(name: str) -> list[PolicySource]:
    """The policies of a shipped pack, file by file: what lies beside them is for their tests.

    Raises:
        ConfigError: no pack has this name.
        ContentError: the installation lacks the folder.
    """
    if name not in _PACKS:
        raise ConfigError(f"no pack of policies is called {name}", suggestion=f"one of: {', '.join(_PACKS)}")
    folder = content_dir("policies")
    return [
        PolicySource(path=file, label=f"policies/{file.relative_to(folder).as_posix()}", builtin=True)
        for file in sorted(folder.glob("*/*/*.yaml"))
        if file.stem == file.parent.name and file.stem.endswith(_CEL) is _PACKS[name]
    ]
