"""Which files a path means: the walk, what is left out and why. Every file met is accounted for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pathspec

MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
KUSTOMIZATION_NAMES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})
# Version control and dependency folders hold no manifests of the audited party.
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})


# What helm itself reads of a chart, and its customary values for tests.
_CHART_FILES = frozenset({"Chart.yaml", "Chart.lock", "templates", "charts", "ci", "requirements.yaml"})


class FoundFile(msgspec.Struct, frozen=True):
    """A manifest file to read."""

    path: Path


class FoundFolder(msgspec.Struct, frozen=True):
    """A folder that needs rendering: a Helm chart or a kustomization."""

    path: Path
    tool: str
    """``helm`` or ``kustomize``."""


class LeftOut(msgspec.Struct, frozen=True):
    """A file or folder not read, with its reason."""

    path: Path
    reason: str
    """``excluded``, ``not_included``, ``gitignored``, ``other_type`` or ``version_control``."""


class Unreadable(msgspec.Struct, frozen=True):
    """A path that could not be looked at."""

    path: Path
    reason: str


Found = FoundFile | FoundFolder | LeftOut | Unreadable


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants looked at inside folders. Globs follow gitignore syntax, relative to the walked root."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True


def discover(root: Path, selection: Selection) -> Iterator[Found]:
    """Walk `root` depth first in name order. A file named directly is always read, whatever its suffix.

    Links to folders are followed once per real folder, so a loop of links ends.
    """
    if root.is_file():
        yield FoundFile(root)
        return
    if not root.is_dir():
        yield Unreadable(
            root, "no such file or folder" if not root.exists() else "neither a file nor a folder"
        )
        return
    walk = _Walk(root, selection)
    yield from walk.folder(root)


class _Walk:
    """One walk: the compiled globs, the ignore files met on the way down, the folders already seen."""

    def __init__(self, root: Path, selection: Selection) -> None:
        self.root = root
        self.selection = selection
        self.include = pathspec.GitIgnoreSpec.from_lines(selection.include) if selection.include else None
        self.exclude = pathspec.GitIgnoreSpec.from_lines(selection.exclude) if selection.exclude else None
        self.ignores: list[tuple[Path, pathspec.GitIgnoreSpec]] = []
        self.seen: set[tuple[int, int]] = set()
        self.inside = root.resolve()

    def folder(self, folder: Path) -> Iterator[Found]:
        try:
            info = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(folder, error.strerror or "unreadable")
            return
        identity = (info.st_dev, info.st_ino)
        if identity in self.seen:
            return
        self.seen.add(identity)
        names = {entry.name for entry in entries}
        depth = len(self.ignores)
        if self.selection.respect_gitignore and ".gitignore" in names:
            self._read_gitignore(folder)
        if "Chart.yaml" in names:
            yield from self._chart(folder, entries)
        else:
            if names & KUSTOMIZATION_NAMES:
                yield FoundFolder(folder, "kustomize")
            for entry in entries:
                yield from self._entry(folder, entry)
        del self.ignores[depth:]

    def _chart(self, folder: Path, entries: list[os.DirEntry[str]]) -> Iterator[Found]:
        """A chart's own files are rendered as a whole; its crds/, and what helm never reads, are plain manifests."""
        if (reason := self._reason_to_skip(folder, is_folder=True)) and folder != self.root:
            yield LeftOut(folder, reason)
            return
        yield FoundFolder(folder, "helm")
        for entry in entries:
            if entry.name not in _CHART_FILES and not entry.name.startswith("values"):
                yield from self._entry(folder, entry)

    def _entry(self, folder: Path, entry: os.DirEntry[str]) -> Iterator[Found]:
        path = folder / entry.name
        try:
            is_folder = entry.is_dir()
            is_file = entry.is_file()
        except OSError as error:
            yield Unreadable(path, error.strerror or "unreadable")
            return
        if entry.is_symlink() and not path.resolve().is_relative_to(self.inside) and path.exists():
            # What is audited may be hostile: a link must not make us read the machine's other files.
            yield Unreadable(
                path, "a link that leads out of the folder; name its target as a PATH of its own"
            )
            return
        if is_folder and entry.name in SKIPPED_FOLDERS:
            yield LeftOut(path, "version_control")
            return
        reason = self._reason_to_skip(path, is_folder=is_folder)
        if reason:
            yield LeftOut(path, reason)
        elif is_folder:
            yield from self.folder(path)
        elif not is_file:
            # Broken links, sockets and pipes: reading them could fail or hang.
            if path.suffix.lower() in MANIFEST_SUFFIXES:
                yield Unreadable(path, "broken link or special file")
            else:
                yield LeftOut(path, "other_type")
        elif path.suffix.lower() not in MANIFEST_SUFFIXES:
            if entry.name not in KUSTOMIZATION_NAMES:
                yield LeftOut(path, "other_type")
        elif entry.name not in KUSTOMIZATION_NAMES:
            if self.include is not None and not self.include.match_file(self._relative(path)):
                yield LeftOut(path, "not_included")
            else:
                yield FoundFile(path)

    def _reason_to_skip(self, path: Path, *, is_folder: bool) -> str:
        slash = "/" if is_folder else ""
        if self.exclude is not None and self.exclude.match_file(self._relative(path) + slash):
            return "excluded"
        for base, spec in self.ignores:
            if spec.match_file(path.relative_to(base).as_posix() + slash):
                return "gitignored"
        return ""

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _read_gitignore(self, folder: Path) -> None:
        try:
            lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        self.ignores.append((folder, pathspec.GitIgnoreSpec.from_lines(lines)))
