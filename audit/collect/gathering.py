"""What the paths of one cluster mean, before anything is read: files, charts, kustomizations, and all that is left out."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from audit.collect.artifacts.signatures.image_files import layout_around
from audit.collect.discovery import (
    MANIFEST_SUFFIXES,
    SKIPPED_FOLDERS,
    FoundFile,
    FoundFolder,
    IgnoreFile,
    LeftOut,
    Selection,
    Unreadable,
    discover,
)
from audit.collect.own_files import OwnFiles
from audit.model.gap import Gap, GapKind, Notice
from audit.ports import ScopeChoice

STDIN = "-"

_LEFT_OUT = {
    "excluded": "left out by --exclude or scope.exclude",
    "not_included": "not matched by --include",
    "gitignored": "ignored by .gitignore (read them with --no-gitignore)",
    "other_type": "neither YAML nor JSON, nor evidence that is known",
    "part_of_layout": "parts of image layouts, which are read as a whole",
    "version_control": "version control or dependency folders",
    "own_output": "written by fleetaudit itself",
    "configuration": "configuration of this audit",
    "already_read": "reached a second time, and counted once",
}
_CHOSEN = frozenset({"excluded", "not_included", "gitignored"})

_MOST_COUNTED = 10_000
"""Files counted below one left-out folder: a figure to judge by, not worth a walk of a whole disk."""


class ManifestScope(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster's manifests: where they are and what of them is wanted."""

    cluster: str
    paths: tuple[str, ...]
    """Files, folders, globs or ``-``; relative ones count from `base`."""
    base: Path
    selection: Selection = Selection()
    own: OwnFiles = OwnFiles()
    max_file_bytes: int = 64 << 20
    max_rendered_bytes: int = 64 << 20

    def label(self, path: Path) -> str:
        """A path as people know it."""
        try:
            return path.relative_to(self.base).as_posix()
        except ValueError:
            return path.as_posix()

    def gap(self, kind: GapKind, source: str, reason: str, *, line: int | None = None, hint: str = "") -> Gap:
        """A gap that may hide an object of any kind."""
        return Gap(
            kind=kind,
            cluster=self.cluster,
            source=source,
            reason=reason,
            line=line,
            kinds=None,
            hint=hint,
        )


class Gathered(msgspec.Struct, kw_only=True):
    """Everything found, each real file and folder once."""

    files: list[Path | None] = []
    """In the order to read; None stands for standard input."""
    charts: list[Path] = []
    kustomizations: list[Path] = []
    only_evidence: set[Path] = set()
    """Files that can be no manifest by their names."""
    notes: list[Gap | Notice | ScopeChoice] = []


def gather(scope: ManifestScope, evidence_suffixes: frozenset[str]) -> Gathered:
    """Walk all paths of a cluster; files of folders with one of these endings may be evidence."""
    gathered = Gathered()
    gathered.notes += _globs(scope.selection)
    read: set[Path] = set()
    for text in scope.paths:
        if text != STDIN:
            for root in _roots(scope, text, gathered):
                _walk(scope, root, read, gathered, evidence_suffixes)
        elif None in gathered.files:
            gathered.notes.append(
                Notice(source=STDIN, code="already_read", message=_LEFT_OUT["already_read"])
            )
        else:
            gathered.files.append(None)
    return gathered


def _globs(selection: Selection) -> Iterator[ScopeChoice]:
    for option, globs in (("include", selection.include), ("exclude", selection.exclude)):
        for pattern in globs:
            yield ScopeChoice(f"{option}|{pattern}")


def _roots(scope: ManifestScope, text: str, gathered: Gathered) -> list[Path]:
    path = scope.base / text
    if path.exists() or not glob.has_magic(text):
        return [path]
    matches = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    if not matches:
        gathered.notes.append(scope.gap(GapKind.ABSENT, text, "no file matches this pattern"))
    return matches


def _walk(
    scope: ManifestScope, root: Path, read: set[Path], gathered: Gathered, evidence_suffixes: frozenset[str]
) -> None:
    omitted: dict[str, list[Path]] = {}
    for found in discover(root, scope.selection, own=scope.own, read=read, evidence=evidence_suffixes):
        if isinstance(found, FoundFile):
            gathered.files.append(found.path)
            if found.only_evidence:
                gathered.only_evidence.add(found.path)
        elif isinstance(found, FoundFolder):
            (gathered.charts if found.tool == "helm" else gathered.kustomizations).append(found.path)
        elif isinstance(found, LeftOut):
            omitted.setdefault(found.reason, []).append(found.path)
        elif isinstance(found, IgnoreFile):
            gathered.notes.append(ScopeChoice(f"ignore_file|{_below(root, found.path)}|{found.sha256}"))
        elif isinstance(found, Unreadable):
            kind = GapKind.ABSENT if found.reason.startswith("no such") else GapKind.UNREADABLE
            gathered.notes.append(scope.gap(kind, scope.label(found.path), found.reason))
    _set_layouts_apart(
        omitted, {path.parent for path in gathered.files if path and path.name == "index.json"}
    )
    for reason, paths in sorted(omitted.items()):
        gathered.notes.append(left_out(scope, reason, paths))
        if reason in _CHOSEN:
            gathered.notes += [ScopeChoice(f"{reason}|{_below(root, path)}") for path in paths]


def _set_layouts_apart(omitted: dict[str, list[Path]], folders: set[Path]) -> None:
    """Blobs are no files that nobody knew: whoever reads the index of an image layout reads them."""
    others = omitted.pop("other_type", [])
    for path in others:
        reason = "part_of_layout" if layout_around(path) in folders else "other_type"
        omitted.setdefault(reason, []).append(path)


def _below(root: Path, path: Path) -> str:
    """A path that is equal wherever the audited folder is."""
    return path.relative_to(root).as_posix()


def left_out(scope: ManifestScope, reason: str, paths: list[Path]) -> Notice:
    """What is said of files that are not read. A folder that was chosen away says how many manifests lie in it."""
    names = ", ".join(scope.label(path) + _inside(path, reason) for path in paths[:3])
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return Notice(
        source=scope.label(paths[0].parent),
        code=reason,
        message=f"{len(paths)} {_LEFT_OUT[reason]}: {names}{more}",
        count=len(paths),
    )


def _inside(path: Path, reason: str) -> str:
    if reason not in _CHOSEN or not path.is_dir():
        return ""
    count = 0
    for _, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        count += sum(Path(name).suffix.lower() in MANIFEST_SUFFIXES for name in names)
        if count > _MOST_COUNTED:
            return f"/ (more than {_MOST_COUNTED} YAML or JSON files in it)"
    return f"/ ({count} YAML or JSON file{'' if count == 1 else 's'} in it)"
