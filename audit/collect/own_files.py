"""fleetaudit's own files among the audited ones: what it wrote in an earlier run, and what configures this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import yaml


class _Json(msgspec.Struct):
    """The few top-level keys that tell a report of ours from a manifest."""

    api_version: Any = msgspec.field(name="apiVersion", default=msgspec.UNSET)
    kind: Any = msgspec.UNSET


class OwnFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Recognises them.

    What claims to be ours in its text and is a manifest all the same is read: nothing is hidden by a marker.
    """

    configuration: frozenset[Path] = frozenset()
    """Real paths of the configuration, and of the files it names."""
    output: tuple[Path, ...] = ()
    """Real paths of the folders that this run writes to."""
    is_report: Callable[[Path], bool] | None = None
    """Whether a file begins like a report of ours; None recognises none."""

    def reason(self, path: Path) -> str:
        """Why a file is not a manifest to audit: ``configuration``, ``own_output``, or empty."""
        if self.configuration and path.resolve() in self.configuration and _is_configuration(path):
            return "configuration"
        return "own_output" if self.made(path) else ""

    def is_output(self, folder: Path) -> bool:
        """Whether this run writes into `folder`."""
        return bool(self.output) and folder.resolve() in self.output

    def made(self, path: Path) -> bool:
        """Whether fleetaudit made a file, or a folder to work in."""
        if path.is_dir():
            return self.is_output(path)
        if self.is_report is None or not path.is_file() or not self.is_report(path):
            return False
        return path.suffix.lower() not in (".json", ".yaml", ".yml") or _is_no_manifest(path)


def _is_configuration(path: Path) -> bool:
    """Whether a file that the configuration names is nothing else besides."""
    try:
        loaded: Any = yaml.safe_load(path.read_bytes())
    # PyYAML lets a plain ValueError through for impossible dates.
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return False
    return isinstance(loaded, dict) and "apiVersion" not in loaded and "kind" not in loaded


def _is_no_manifest(path: Path) -> bool:
    """Whether a file is JSON that Kubernetes would not take for an object or a list of objects."""
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_Json)
    except (OSError, msgspec.MsgspecError):
        return False
    return document.api_version is msgspec.UNSET and document.kind is msgspec.UNSET
