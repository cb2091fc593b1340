"""Runs the real command: through pipes, and on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[3]
COMMAND = (sys.executable, "-m", "audit")
TIMEOUT_SECONDS = 120


def environment(**changes: str | None) -> dict[str, str]:
    """A plain environment: ours for finding the package, nothing of the developer's that changes output."""
    unwanted = {"NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in unwanted and not name.startswith("FLEETAUDIT_")
    }
    kept |= {"PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    for name, value in changes.items():
        kept.pop(name, None)
        if value is not None:
            kept[name] = value
    return kept


def run(
    *arguments: str, cwd: Path, stdin: str | bytes = b"", **changes: str | None
) -> subprocess.CompletedProcess[str]:
    """The command with pipes on all sides."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**changes),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args,
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


class OnTerminal(NamedTuple):
    """What a terminal showed, and the exit code."""

    code: int
    shown: str


def run_on_terminal(*arguments: str, cwd: Path, **changes: str | None) -> OnTerminal:
    """The command with standard output and error on one pseudo-terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = bytearray()
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if not ready:
            continue
        try:
            chunk = os.read(ours, 1 << 16)
        except OSError:
            break  # Linux says EIO when the last writer has closed the terminal
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    return OnTerminal(process.wait(timeout=10), shown.decode("utf-8", "replace"))
