"""Runs the real command in a process of its own, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Run(NamedTuple):
    """One finished run."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report."""
        loaded: dict[str, Any] = json.loads((self.folder / "report.json").read_bytes())
        return loaded

    def findings(self, rule: str, outcome: str = "fail") -> list[dict[str, Any]]:
        """Members of all groups of one rule."""
        return [
            member
            for group in self.report["groups"]
            if group["rule"] == rule and group["outcome"] == outcome
            for member in group["members"]
        ]

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """The gaps of the report."""
        gaps: list[dict[str, Any]] = self.report["gaps"]
        return gaps


def fleetaudit(
    *arguments: str | Path, env: dict[str, str] | None = None, stdin: bytes = b"", cwd: Path | None = None
) -> Run:
    """Run ``fleetaudit`` with these arguments; only for sub-commands that need no report."""
    done = subprocess.run(
        [sys.executable, "-m", "audit", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=os.environ | {"COLUMNS": "200"} | (env or {}),
        timeout=300,
        check=False,
        cwd=cwd,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode(), Path())


def run(folder: Path, *arguments: str | Path, env: dict[str, str] | None = None, stdin: bytes = b"") -> Run:
    """``fleetaudit run`` with its output in `folder`."""
    done = fleetaudit("run", *arguments, "--output", folder, env=env, stdin=stdin)
    return done._replace(folder=folder)
