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
    """Rego that is compiled together: a folder, as for ``opa test FOLDER``, or all files that were named."""

    label: str
    files: tuple[SuiteFile, ...]
    folder: Path | None = None
    """Where its data lies; None for named files."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All suites below some paths."""

    rego: tuple[RegoProgram, ...] = ()
    gatekeeper: tuple[SuiteFile, ...] = ()
    kyverno: tuple[SuiteFile, ...] = ()

    @property
    def files(self) -> int:
        """Files that may hold cases."""
        return sum(len(program.files) for program in self.rego) + len(self.gatekeeper) + len(self.kyverno)


def discover(paths: Sequence[str], kinds: frozenset[SuiteKind] = frozenset(SuiteKind)) -> Found:
    """Look for suites.

    Args:
        paths: files and folders; a file that is named must be a suite.
        kinds: leave out all others.

    Raises:
        UsageError: a path does not exist, or a named file is no suite.
    """
    rego: dict[Path, RegoProgram] = {}
    named: dict[Path, SuiteFile] = {}
    gatekeeper: dict[Path, SuiteFile] = {}
    kyverno: dict[Path, SuiteFile] = {}
    for written in paths:
        root = Path(written)
        if not root.exists():
            raise UsageError(f"{written}: no such file or folder")
        own: list[SuiteFile] = []
        for file in _files(root, written):
            kind = kind_of(file.path, named=root.is_file())
            if kind is None and root.is_file():
                raise UsageError(
                    f"{written} is no suite",
                    suggestion="name a kyverno-test.yaml, a Suite of test.gatekeeper.sh, a .rego file, or a folder",
                )
            if kind is SuiteKind.REGO:
                own.append(file)
            elif kind is SuiteKind.GATEKEEPER:
                gatekeeper.setdefault(file.path.resolve(), file)
            elif kind is SuiteKind.KYVERNO:
                kyverno.setdefault(file.path.resolve(), file)
        if own and root.is_file():
            named.setdefault(root.resolve(), own[0])
        elif own:
            rego.setdefault(root.resolve(), RegoProgram(label=written, files=tuple(sorted(own)), folder=root))
    # A folder inside another one that was named is part of its program.
    programs = [program for place, program in rego.items() if rego.keys().isdisjoint(place.parents)]
    if named:
        programs.append(
            RegoProgram(label=", ".join(f.label for f in named.values()), files=tuple(named.values()))
        )
    return Found(
        rego=tuple(programs) if SuiteKind.REGO in kinds else (),
        gatekeeper=tuple(sorted(gatekeeper.values())) if SuiteKind.GATEKEEPER in kinds else (),
        kyverno=tuple(sorted(kyverno.values())) if SuiteKind.KYVERNO in kinds else (),
    )


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
