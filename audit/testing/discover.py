"""Finds suites below the paths that were named. Hidden folders are looked into: Kyverno's library keeps its tests there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.errors import UsageError
from audit.testing.cases import SuiteKind

KYVERNO_NAMES = ("kyverno-test.yaml", "kyverno-test.yml")
"""What Kyverno calls its suites; another name is taken when the file itself is named."""
_YAML = frozenset({".yaml", ".yml", ".json"})
_NEVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".tox", ".terraform"})
_GATEKEEPER_MARK = b"test.gatekeeper.sh"
_KYVERNO_MARK = b"cli.kyverno.io"
_MAX_BYTES = 8 << 20
_MAX_FILES = 200_000


class SuiteFile(msgspec.Struct, frozen=True, order=True):
    """One file with cases in it, or one that should have some."""

    label: str
    """As the user knows it."""
    path: Path


class RegoProgram(msgspec.Struct, frozen=True, kw_only=True):
    """All Rego below the paths of one command: it is compiled together, as for ``opa test PATH...``."""

    files: tuple[SuiteFile, ...]
    data: tuple[Path, ...]
    """Where its data lies: the folders that were named, and files that are no suite."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All suites below some paths."""

    rego: RegoProgram | None = None
    gatekeeper: tuple[SuiteFile, ...] = ()
    kyverno: tuple[SuiteFile, ...] = ()


def discover(paths: Sequence[str], kinds: frozenset[SuiteKind] = frozenset(SuiteKind)) -> Found:
    """Look for suites.

    Args:
        paths: files and folders; a file that is named must be a suite, or data of Rego that is named too.
        kinds: leave out all others.

    Raises:
        UsageError: a path does not exist, or a named file is no suite.
    """
    found: dict[SuiteKind, dict[Path, SuiteFile]] = {kind: {} for kind in SuiteKind}
    folders: list[Path] = []
    data: dict[str, Path] = {}
    for written in paths:
        root = Path(written)
        if not root.exists():
            raise UsageError(f"{written}: no such file or folder")
        if root.is_dir():
            folders.append(root)
        for file in _files(root, written):
            kind = kind_of(file.path, named=root.is_file())
            if kind is not None:
                found[kind].setdefault(file.path.resolve(), file)
            elif root.is_file():
                data[written] = root
    if data and not (found[SuiteKind.REGO] and all(path.suffix in _YAML for path in data.values())):
        raise UsageError(
            f"{next(iter(data))} is no suite",
            suggestion="name a kyverno-test.yaml, a Suite of test.gatekeeper.sh, a .rego file, or a folder",
        )
    files = {kind: tuple(sorted(found[kind].values())) if kind in kinds else () for kind in SuiteKind}
    rego = files[SuiteKind.REGO]
    return Found(
        rego=RegoProgram(files=rego, data=(*_outermost(folders), *data.values())) if rego else None,
        gatekeeper=files[SuiteKind.GATEKEEPER],
        kyverno=files[SuiteKind.KYVERNO],
    )


def _outermost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Without folders that lie in another one: their data would come twice."""
    places = {folder.resolve(): folder for folder in folders}
    return tuple(folder for place, folder in places.items() if places.keys().isdisjoint(place.parents))


def kind_of(path: Path, *, named: bool = False) -> SuiteKind | None:
    """What a file is; None when it has nothing to do with tests.

    Args:
        path: the file.
        named: its user named it, so a suite of Kyverno's may have any name.
    """
    if path.suffix == ".rego":
        return SuiteKind.REGO
    if path.name in KYVERNO_NAMES:
        return SuiteKind.KYVERNO
    if path.suffix not in _YAML:
        return None
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    if _GATEKEEPER_MARK in raw:
        return SuiteKind.GATEKEEPER
    return SuiteKind.KYVERNO if named and _KYVERNO_MARK in raw else None


def _files(root: Path, label: str) -> Iterator[SuiteFile]:
    if root.is_file():
        yield SuiteFile(label, root)
        return
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        for name in sorted(names):
            path = Path(folder) / name
            count += 1
            if count > _MAX_FILES:
                raise UsageError(f"{label} holds more than {_MAX_FILES} files", suggestion="name its parts")
            if path.is_file():
                yield SuiteFile(_label(label, path.relative_to(root)), path)


def _label(root: str, inside: Path) -> str:
    return inside.as_posix() if root in (".", "./") else f"{root.rstrip('/')}/{inside.as_posix()}"
