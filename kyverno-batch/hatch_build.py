"""Builds the Go program into the wheel, with the build hook of the checkout around it.

Environment:
    FLEETAUDIT_KYVERNO_BATCH: path of a program to take instead of building one.
    FLEETAUDIT_TARGET: ``GOOS/GOARCH`` to build for another platform.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _shared(root: Path) -> ModuleType:
    """The checkout's own build hook, which knows how a Go program gets into a wheel."""
    path = root.resolve().parent / "hatch_build.py"
    specification = importlib.util.spec_from_file_location("fleetaudit_hatch_build", path)
    if specification is None or specification.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} is needed: the wheel is built from a checkout")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


class BatchBuildHook(BuildHookInterface[BuilderConfig]):
    """Hatchling calls this for every wheel, editable ones included."""

    PLUGIN_NAME = "custom"

    def _native(self) -> Any:
        root = Path(self.root).resolve()
        return _shared(root).Native(
            root.parent,
            source="kyverno-batch",
            name="fleetaudit-kyverno-batch",
            place="kyverno-batch/fleetaudit_kyverno_batch/bin",
            variable="FLEETAUDIT_KYVERNO_BATCH",
            shared=("native/child",),
        )

    def dependencies(self) -> list[str]:
        """Ask for Go as a package only when nothing at hand can do the work."""
        native = self._native()
        requirement = _shared(Path(self.root)).GO_REQUIREMENT
        return [] if native.given or native.is_current() or native.fit_go() else [requirement]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program, add it, and name the platform."""
        native = self._native()
        program = native.provide()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{native.platform_tag()}"
        if version != "editable":
            include = build_data["force_include"]
            include[str(program)] = f"fleetaudit_kyverno_batch/bin/{native.name}"
            if native.notices.is_file():
                include[str(native.notices)] = f"fleetaudit_kyverno_batch/bin/{native.notices.name}"
