"""Imports point down only: import-linter's contract holds, and every package of `audit` is in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.meta.documents import CHECKOUT


def test_import_linter_contract_holds() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_package_stands_outside_the_layers() -> None:
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layered = {name.strip() for row in contract["layers"] for name in row.split("|")}
    there = {
        path.stem
        for path in (CHECKOUT / "audit").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert there - layered <= {"__init__", "__main__"}
