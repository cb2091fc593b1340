"""The files of a policy source: Rego, and YAML that may hold policies. What can't be read is said, once each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.library.foreign.settle import policy_gap
from audit.library.policy_source import PolicySource
from audit.model.gap import Gap

_MAX_BYTES = 8 << 20
_MAX_FILES = 50_000
_YAML = frozenset({".yaml", ".yml", ".json"})


class SourceFile(msgspec.Struct, frozen=True):
    """One file."""

    path: Path
    label: str
    """As the user knows it."""
    text: str


class SourceFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in a source that may matter."""

    rego: tuple[SourceFile, ...]
    yaml: tuple[SourceFile, ...]
    """Files that name one of the words that were looked for."""
    gaps: tuple[Gap, ...]


def read_source(source: PolicySource, words: Sequence[str]) -> SourceFiles:
    """Read a file or a folder; hidden folders are passed over, links to folders are not followed.

    Args:
        source: where.
        words: a YAML file that holds none of them is no policy.
    """
    rego: list[SourceFile] = []
    documents: list[SourceFile] = []
    gaps: list[Gap] = []
    for path, label in _paths(source):
        text = _text(path, label, gaps)
        if text is None:
            continue
        if path.suffix == ".rego":
            if not path.name.endswith("_test.rego"):
                rego.append(SourceFile(path, label, text))
        elif any(word in text for word in words):
            documents.append(SourceFile(path, label, text))
    return SourceFiles(rego=tuple(rego), yaml=tuple(documents), gaps=tuple(gaps))


def read_libraries(source: PolicySource) -> SourceFiles:
    """The Rego of the source's libraries."""
    rego: list[SourceFile] = []
    gaps: list[Gap] = []
    for library in source.libraries:
        found = read_source(msgspec.structs.replace(source, path=library, label=str(library)), ())
        rego += found.rego
        gaps += found.gaps
        if not found.rego and not found.gaps:
            gaps.append(policy_gap(str(library), "holds no .rego file"))
    return SourceFiles(rego=tuple(rego), yaml=(), gaps=tuple(gaps))


def _paths(source: PolicySource) -> Iterator[tuple[Path, str]]:
    if source.path.is_file():
        yield source.path, source.label
        return
    count = 0
    for folder, folders, files in os.walk(source.path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            if path.suffix == ".rego" or path.suffix in _YAML:
                count += 1
                if count > _MAX_FILES:
                    return
                yield path, f"{source.label}/{path.relative_to(source.path).as_posix()}"


def _text(path: Path, label: str, gaps: list[Gap]) -> str | None:
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _MAX_BYTES:
            gaps.append(policy_gap(label, f"is larger than {_MAX_BYTES >> 20} MiB"))
            return None
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        if path.suffix == ".rego":
            gaps.append(policy_gap(label, f"cannot be read: {error}"))
        return None
    except OSError as error:
        gaps.append(policy_gap(label, f"cannot be read: {error.strerror or error}"))
        return None
