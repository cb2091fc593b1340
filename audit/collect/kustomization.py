"""What a kustomization.yaml refers to, read without running anything.

Whatever kustomize would load must be a file or folder that is here. Its own reader decides between a path, a URL and a
git repository by the text alone, so a text that it could take for an address is one, even when a folder of that name exists.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from audit.collect.discovery import KUSTOMIZATION_NAMES
from audit.collect.messages import without_values

_MAX_BYTES = 1 << 20
# Field names are in lower case: kustomize reads them as encoding/json does, in any case.
# Fields that list files or folders taken in as they are, and fields whose files are patches or inputs.
_RESOURCE_FIELDS = ("resources", "bases", "components", "crds", "configurations")
# Each entry of these is a file, or the text of what such a file would hold.
_PLUGIN_FIELDS = ("generators", "transformers", "validators")
_PATCH_FIELDS = ("patches", "patchesjson6902", "replacements")
_SOURCE_FIELDS = ("configmapgenerator", "secretgenerator")
_HELM_FIELDS = ("helmcharts", "helmchartinflationgenerator")
# What a built-in generator or transformer loads, by its own field.
_PLUGIN_PATHS = ("path", "paths", "targetfilepath")
_ADDRESS = re.compile(r"(?i)\s*(git::|gh:|github\.com|[a-z][a-z0-9+.-]*://|[^/\s]*@)")


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
    """What it would download: every entry that is no local file or folder."""
    needs_helm: bool = False
    problem: str = ""


def read_kustomization(folder: Path) -> Kustomization:
    """Read the kustomization of `folder`. A broken one comes back with `problem` set."""
    file = next(folder / name for name in sorted(KUSTOMIZATION_NAMES) if (folder / name).is_file())
    loaded, problem = _documents(file)
    if not problem and (len(loaded) != 1 or not isinstance(loaded[0], dict)):
        problem = "is not a mapping"
    if problem:
        return Kustomization(folder=folder, file=file, problem=problem)
    fields = _folded(loaded[0])
    places = _Places(Path(os.path.realpath(folder)))
    places.read(fields)
    return Kustomization(
        folder=folder,
        file=file,
        is_component="Component" in fields.get("kind", []),
        folders=tuple(places.folders),
        files=tuple(places.files),
        remote=tuple(places.remote),
        needs_helm=places.needs_helm or any(any(fields.get(name, [])) for name in _HELM_FIELDS),
        problem=places.problem,
    )


def has_kustomization(folder: Path) -> bool:
    """Whether a folder has a kustomization file."""
    return any((folder / name).is_file() for name in KUSTOMIZATION_NAMES)


def looks_remote(entry: str) -> bool:
    """Whether kustomize could take this entry for an address, whatever else it may be."""
    return _ADDRESS.match(entry) is not None


class _Places:
    """Sorts every text that kustomize loads from into what is here and what is not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.folders: list[Path] = []
        self.files: list[Path] = []
        self.remote: list[str] = []
        self.needs_helm = False
        self.problem = ""

    def read(self, fields: dict[str, list[Any]]) -> None:
        """Every place of a kustomization."""
        for name in _RESOURCE_FIELDS:
            for entry in _texts(fields.get(name)):
                self._take(entry)
        for entry in _texts(fields.get("patchesstrategicmerge")):
            if looks_remote(entry) or not _inline(entry):
                self._take(entry)
        for name in ("openapi", *_PATCH_FIELDS):
            for item in _items(fields.get(name)):
                self._patch(item)
        for name in _SOURCE_FIELDS:
            for item in _items(fields.get(name)):
                if isinstance(item, dict):
                    self._sources(_folded(item))
        for name in _PLUGIN_FIELDS:
            for entry in _texts(fields.get(name)):
                self._plugin(entry)

    def _patch(self, item: Any) -> None:
        if isinstance(item, dict):
            self._all(_folded(item).get("path"))
        elif looks_remote(str(item)) or not _inline(str(item)):
            # `patches` was once a list of files.
            self._take(str(item))

    def _all(self, value: Any) -> None:
        for entry in _texts(value):
            self._take(entry)

    def _sources(self, fields: dict[str, list[Any]]) -> None:
        """The files of a ConfigMap or Secret to be made. They are data: nobody reads them as manifests here."""
        for entry in _texts(fields.get("files")):
            self._local(entry.split("=", 1)[-1], entry)
        for entry in _texts(fields.get("envs")) + _texts(fields.get("env")):
            self._local(entry, entry)

    def _plugin(self, entry: str) -> None:
        documents = None if looks_remote(entry) else _inline(entry)
        if documents is None:
            path = self._take(entry)
            if path is None:
                return
            if path.is_dir():
                # What that folder builds may name files by way of patches, which only kustomize itself can tell.
                self.problem = (
                    self.problem or "takes its generators or transformers from another kustomization"
                )
                return
            documents, problem = _documents(path)
            if problem:
                self.problem = self.problem or f"names {path.name}, which {problem}"
                return
        for document in documents:
            self._plugin_config(document)

    def _plugin_config(self, document: Any) -> None:
        waiting = [document]
        while waiting:
            current = waiting.pop()
            if not isinstance(current, dict):
                continue
            fields = _folded(current)
            # A list of configurations is read as its items.
            waiting += _items(fields.get("items"))
            for name in _PLUGIN_PATHS:
                self._all(fields.get(name))
            self._sources(fields)
            for item in _items(fields.get("replacements")):
                if isinstance(item, dict):
                    self._all(_folded(item).get("path"))
            self.needs_helm |= any("helm" in str(kind).casefold() for kind in fields.get("kind", []))

    def _take(self, entry: str) -> Path | None:
        path = self._local(entry, entry)
        if path is not None:
            (self.folders if path.is_dir() else self.files).append(path.resolve())
        return path

    def _local(self, path: str, entry: str) -> Path | None:
        """The file or folder that a relative path names, or None after noting that there is none."""
        # kustomize cleans a path as text before it follows links, so ``link/../x`` is ``x``.
        here = os.path.normpath(self._folder / path)
        if (
            path
            and not looks_remote(path)
            and not looks_remote(entry)
            and not Path(path).is_absolute()
            and os.path.exists(here)  # noqa: PTH110 - says no, and does not raise, of a text too long for a path
        ):
            return Path(here)
        self.remote.append(entry)
        return None


def _documents(file: Path) -> tuple[list[Any], str]:
    """The YAML documents of a file, or what is wrong with it."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            return [], "larger than 1 MiB"
        return _parsed(file.read_bytes()), ""
    # PyYAML lets a plain ValueError through for impossible dates.
    except (OSError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return [], f"cannot be read: {without_values(str(error).splitlines()[0])}"


def _inline(entry: str) -> list[Any] | None:
    """The documents of an entry that is no path but the text of a file; None for a path."""
    try:
        documents = _parsed(entry.encode())
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    objects = [document for document in documents if document is not None]
    return objects if objects and all(isinstance(document, dict | list) for document in objects) else None


def _parsed(data: bytes) -> list[Any]:
    for node in yaml.compose_all(data, Loader=yaml.SafeLoader):
        _refuse_repeated_keys(node)
    return list(yaml.safe_load_all(data))


def _refuse_repeated_keys(root: yaml.Node | None) -> None:
    """Which of two equal keys another reader takes is not known, so neither is what it loads."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(keys) != len(set(keys)):
                raise yaml.YAMLError("a key stands twice in one mapping")
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _folded(mapping: dict[Any, Any]) -> dict[str, list[Any]]:
    """Fields in lower case, each with the values of all its spellings."""
    folded: dict[str, list[Any]] = {}
    for key, value in mapping.items():
        folded.setdefault(str(key).casefold(), []).append(value)
    return folded


def _items(value: Any) -> list[Any]:
    """What stands in lists at any depth, one by one."""
    if not isinstance(value, list):
        return [] if value is None else [value]
    return [inner for item in value for inner in _items(item)]


def _texts(value: Any) -> list[str]:
    return [str(item) for item in _items(value) if item != ""]
