"""Packages from npm that only tests need, installed once into the user's cache, never into the checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent


def npm_file(path: str) -> Path:
    """A file below ``node_modules``; skips the calling test when npm is not there."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    digest = hashlib.sha256((_HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleetaudit"
    folder = cache / f"report-checks-{digest}"
    if not folder.is_dir():
        _install(npm, folder)
    return folder / "node_modules" / path


def _install(npm: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        new = Path(place) / "new"
        new.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_HERE / name, new / name)
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=new,
            check=True,
            capture_output=True,
            timeout=300,
        )
        try:
            new.rename(folder)
        except OSError:
            # Another test process was quicker; its copy is as good.
            assert folder.is_dir()
