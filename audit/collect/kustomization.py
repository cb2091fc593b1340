"""What a kustomization.yaml refers to, read without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import yaml

from audit.collect.discovery import KUSTOMIZATION_NAMES
from audit.collect.messages import without_values

_MAX_BYTES = 1 << 20
# Fields that list files or folders taken in as they are, and fields whose files are patches or inputs.
_RESOURCE_FIELDS = ("resources", "bases", "components", "crds")
_INPUT_FIELDS = (
    "patchesStrategicMerge",
    "transformers",
    "generators",
    "validators",
    "configurations",
    "openapi",
)
_PATCH_FIELDS = ("patches", "patchesJson6902", "replacements")


class Kustomization(msgspec.Struct, frozen=True, kw_only=True):
    """One kustomization folder."""

    folder: Path
    file: Path
    is_component: bool = False
    folders: tuple[Path, ...] = ()
    """Local folders it builds on, resolved."""
    files: tuple[Path, ...] = ()
    """Local files it takes in, resolved: covered by its rendering, never judged raw."""
    remote: tuple[str, ...] = ()
    """URLs it would download."""
    needs_helm: bool = False
    problem: str = ""


def read_kustomization(folder: Path) -> Kustomization:
    """Read the kustomization of `folder`. A broken one comes back with `problem` set."""
    file = next(folder / name for name in sorted(KUSTOMIZATION_NAMES) if (folder / name).is_file())
    try:
        if file.stat().st_size > _MAX_BYTES:
            return Kustomization(folder=folder, file=file, problem="larger than 1 MiB")
        loaded: Any = yaml.safe_load(file.read_bytes())
    # PyYAML lets a plain ValueError through for impossible dates.
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        return Kustomization(
            folder=folder, file=file, problem=f"cannot be read: {without_values(str(error).splitlines()[0])}"
        )
    if not isinstance(loaded, dict):
        return Kustomization(folder=folder, file=file, problem="is not a mapping")
    entries = [text for field in _RESOURCE_FIELDS + _INPUT_FIELDS for text in _texts(loaded.get(field))]
    entries += [
        text
        for field in _PATCH_FIELDS
        for item in _items(loaded.get(field))
        if isinstance(item, dict)
        for text in _texts([item.get("path")])
    ]
    folders: list[Path] = []
    files: list[Path] = []
    remote: list[str] = []
    for entry in entries:
        if "\n" in entry:
            continue
        path = folder / entry
        if path.is_dir():
            folders.append(path.resolve())
        elif path.is_file():
            files.append(path.resolve())
        elif looks_remote(entry):
            remote.append(entry)
    return Kustomization(
        folder=folder,
        file=file,
        is_component=loaded.get("kind") == "Component",
        folders=tuple(folders),
        files=tuple(files),
        remote=tuple(remote),
        needs_helm=bool(loaded.get("helmCharts") or loaded.get("helmChartInflationGenerator")),
    )


def has_kustomization(folder: Path) -> bool:
    """Whether a folder has a kustomization file."""
    return any((folder / name).is_file() for name in KUSTOMIZATION_NAMES)


def looks_remote(entry: str) -> bool:
    """Whether kustomize would fetch this entry from a network."""
    return "://" in entry or entry.startswith(("git@", "github.com/")) or "?ref=" in entry


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [item for item in _items(value) if isinstance(item, str) and item]
