"""Custom resource definitions from the Go modules of their authors."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.shared_data import CHECKOUT


def definitions(module: str, *patterns: str) -> list[dict[str, Any]]:
    """Those that the patterns name; skips the test where the module can't be had.

    Args:
        module: ``path@version``.
        patterns: of files below the module.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(CHECKOUT / "scripts" / "with-go"), "go", "mod", "download", "-json", module],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        pytest.skip(f"{module} can't be had: {done.stdout[-300:]}{done.stderr[-300:]}")
    root = Path(json.loads(done.stdout)["Dir"])
    files = [file for pattern in patterns for file in sorted(root.glob(pattern))]
    assert files
    # The definitions are megabytes long, and the loader in C takes a tenth of the time.
    return [yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) for file in files]
