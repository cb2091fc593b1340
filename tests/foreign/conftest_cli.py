"""The real conftest, asked about the same policies and objects."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Said(NamedTuple):
    """Messages of one run."""

    failures: set[str]
    warnings: set[str]
    exceptions: int


def conftest(binary: str, policy: Path, files: Sequence[Path], *more: str) -> Said:
    done = subprocess.run(
        [binary, "test", "--all-namespaces", "-o", "json", "-p", str(policy), *more, *map(str, files)],
        capture_output=True,
        timeout=120,
        check=False,
    )
    if not done.stdout.strip().startswith(b"["):
        raise RuntimeError(done.stderr.decode() + done.stdout.decode())
    rows = json.loads(done.stdout)
    return Said(
        {entry["msg"] for row in rows for entry in row.get("failures") or []},
        {entry["msg"] for row in rows for entry in row.get("warnings") or []},
        sum(len(row.get("exceptions") or []) for row in rows),
    )
