"""Where the shared corpora and cases are: beside the checkout, or where FLEETAUDIT_SHARED says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


def shared_dir(*parts: str) -> Path:
    """Path inside the shared data; skips the calling test when it is absent."""
    root = Path(os.environ.get("FLEETAUDIT_SHARED") or CHECKOUT.parent / "shared")
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared data not found: {'/'.join(parts)}")
    return path
