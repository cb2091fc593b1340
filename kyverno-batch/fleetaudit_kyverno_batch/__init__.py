"""The batch child of fleetaudit over Kyverno's own engine: one program, and where it is."""

from __future__ import annotations

import sys
from pathlib import Path


def program() -> Path:
    """Path of the program."""
    name = "fleetaudit-kyverno-batch.exe" if sys.platform == "win32" else "fleetaudit-kyverno-batch"
    return Path(__file__).parent / "bin" / name
