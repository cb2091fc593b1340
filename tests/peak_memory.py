"""Peak memory of the process that asks."""

from __future__ import annotations

from pathlib import Path


def peak_kib() -> int:
    """Peak resident size in KiB since the program began.

    Not `ru_maxrss`: that one survives exec, so a small child of a large test run would answer for the run.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
