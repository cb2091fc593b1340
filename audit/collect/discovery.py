"""Which files a path means: the walk, what is left out and why. Every file met is accounted for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from audit.collect.ignore_files import IgnoreRules, compiled, ignored
from audit.collect.own_files import OwnFiles

MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
KUSTOMIZATION_NAMES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})
# Version control and dependency folders hold no manifests of the audited party.
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})


# What helm itself reads of a chart.
_CHART_FILES = frozenset(
    {
        "Chart.yaml",
        "Chart.lock",
        "templates",
        "charts",
        "requirements.yaml",
        "values.yaml",
        "values.schema.json",
    }
)


_MAX_DEPTH = 200
_MAX_IGNORE_BYTES = 1 << 20


class FoundFile(msgspec.Struct, frozen=True):
    """A file to read."""

    path: Path
    only_evidence: bool = False
    """By its name it can be no manifest."""


class FoundFolder(msgspec.Struct, frozen=True):
    """A folder that needs rendering: a Helm chart or a kustomization."""

    path: Path
    tool: str
    """``helm`` or ``kustomize``."""


class LeftOut(msgspec.Struct, frozen=True):
    """A file or folder not read, with its reason."""

    path: Path
    reason: str
    """``excluded``, ``not_included``, ``gitignored``, ``other_type``, ``version_control``, ``own_output``,
    ``configuration`` or ``already_read``."""


class IgnoreFile(msgspec.Struct, frozen=True):
    """A ``.gitignore`` that decides what is read below it."""

    path: Path
    sha256: str


class Unreadable(msgspec.Struct, frozen=True):
    """A path that could not be looked at."""

    path: Path
    reason: str


Found = FoundFile | FoundFolder | LeftOut | IgnoreFile | Unreadable


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants looked at inside folders. Globs follow gitignore syntax, relative to the walked root."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True


def discover(
    root: Path,
    selection: Selection,
    *,
    own: OwnFiles | None = None,
    read: set[Path] | None = None,
    evidence: frozenset[str] = frozenset(),
) -> Iterator[Found]:
    """Walk `root` depth first in name order. A file named directly is always read, whatever its suffix.

    Args:
        root: a file or a folder.
        selection: what is wanted inside a folder.
        own: recognises fleetaudit's own files.
        read: real paths that an earlier walk of the same cluster found, and this one adds to: each counts once.
            Links to folders are followed once per real folder, so a loop of links ends.
        evidence: endings of file names, lower case, that may be evidence without being manifests.
    """
    walk = _Walk(root, selection, own or OwnFiles(), set() if read is None else read, evidence)
    if root.is_file():
        yield walk.file(root)
    elif root.is_dir():
        yield from walk.folder(root)
    else:
        yield Unreadable(
            root, "no such file or folder" if not root.exists() else "neither a file nor a folder"
        )


class _Walk:
    """One walk: the compiled globs, the ignore files met on the way down, the folders already seen."""

    def __init__(
        self, root: Path, selection: Selection, own: OwnFiles, read: set[Path], evidence: frozenset[str]
    ) -> None:
        self.root = root
        self.selection = selection
        self.own = own
        self.read = read
        self.evidence = evidence
        self.include = compiled(selection.include) if selection.include else None
        self.exclude = compiled(selection.exclude) if selection.exclude else None
        self.ignores: list[IgnoreRules] = []
        self.seen: set[tuple[int, int]] = set()
        self.inside = root.resolve()

    def file(self, path: Path) -> Found:
        """A file that is wanted, unless it is one of ours or was reached before."""
        reason = self.own.reason(path)
        if reason:
            return LeftOut(path, reason)
        return FoundFile(path) if self._first(path) else LeftOut(path, "already_read")

    def folder(self, folder: Path, depth: int = 0) -> Iterator[Found]:
        if depth > _MAX_DEPTH:
            yield Unreadable(folder, f"below more than {_MAX_DEPTH} folders")
            return
        try:
            info = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(folder, error.strerror or "unreadable")
            return
        identity = (info.st_dev, info.st_ino)
        if identity in self.seen:
            yield LeftOut(folder, "already_read")
            return
        self.seen.add(identity)
        if self.own.is_output(folder):
            # One line for all of it: how many reports an earlier run left says nothing about what is audited.
            yield LeftOut(folder, "own_output")
            entries = [entry for entry in entries if not self.own.made(Path(entry.path))]
        names = {entry.name for entry in entries if _is_file(entry)}
        ignores = len(self.ignores)
        if self.selection.respect_gitignore and ".gitignore" in names:
            yield from self._read_gitignore(folder)
        if "Chart.yaml" in names:
            yield from self._chart(folder, entries, depth)
        else:
            if names & KUSTOMIZATION_NAMES:
                yield self._rendered(folder, "kustomize")
            for entry in entries:
                yield from self._entry(folder, entry, depth)
        del self.ignores[ignores:]

    def _chart(self, folder: Path, entries: list[os.DirEntry[str]], depth: int) -> Iterator[Found]:
        """A chart's own files are rendered as a whole; its crds/, and what helm never reads, are plain manifests."""
        if (reason := self._reason_to_skip(folder, is_folder=True)) and folder != self.root:
            yield LeftOut(folder, reason)
            return
        yield self._rendered(folder, "helm")
        for entry in entries:
            if entry.name not in _CHART_FILES:
                yield from self._entry(folder, entry, depth)

    def _rendered(self, folder: Path, tool: str) -> Found:
        return FoundFolder(folder, tool) if self._first(folder) else LeftOut(folder, "already_read")

    def _first(self, path: Path) -> bool:
        """Whether this is the first way to a real file or folder."""
        real = path.resolve()
        if real in self.read:
            return False
        self.read.add(real)
        return True

    def _entry(self, folder: Path, entry: os.DirEntry[str], depth: int) -> Iterator[Found]:
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
        if is_folder and self.own.is_output(path):
            yield from self.folder(path, depth + 1)
            return
        reason = self._reason_to_skip(path, is_folder=is_folder)
        if reason:
            yield LeftOut(path, reason)
        elif is_folder:
            yield from self.folder(path, depth + 1)
        elif entry.name not in KUSTOMIZATION_NAMES or not is_file:
            yield self._in_folder(path, is_file=is_file)

    def _in_folder(self, path: Path, *, is_file: bool) -> Found:
        """What a folder holds besides folders."""
        is_manifest = path.suffix.lower() in MANIFEST_SUFFIXES
        if not is_file:
            # Broken links, sockets and pipes: reading them could fail or hang.
            return (
                Unreadable(path, "broken link or special file")
                if is_manifest
                else LeftOut(path, "other_type")
            )
        may_be_evidence = path.suffix.lower() in self.evidence
        if not is_manifest and (self.own.made(path) or not may_be_evidence):
            return LeftOut(path, "own_output" if self.own.made(path) else "other_type")
        if self.include is not None and not self.include.match_file(self._relative(path)):
            return LeftOut(path, self.own.reason(path) or "not_included")
        found = self.file(path)
        if isinstance(found, FoundFile) and not is_manifest:
            return FoundFile(path, only_evidence=True)
        return found

    def _reason_to_skip(self, path: Path, *, is_folder: bool) -> str:
        slash = "/" if is_folder else ""
        if self.exclude is not None and self.exclude.match_file(self._relative(path) + slash):
            return "excluded"
        return "gitignored" if ignored(self.ignores, path, is_folder=is_folder) else ""

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _read_gitignore(self, folder: Path) -> Iterator[Found]:
        path = folder / ".gitignore"
        try:
            with path.open("rb") as file:
                data = file.read(_MAX_IGNORE_BYTES + 1)
        except OSError:
            return
        if len(data) > _MAX_IGNORE_BYTES:  # nobody's ignore file; so what it would hide is read
            return
        self.ignores.append(IgnoreRules(folder, data.decode("utf-8", errors="replace")))
        yield IgnoreFile(path, hashlib.sha256(data).hexdigest())


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
