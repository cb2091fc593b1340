"""Run a command and account for it: wall time, CPU of the whole process tree, and the tree's peak resident memory."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Measured(NamedTuple):
    """One finished command."""

    wall: float
    cpu: float
    peak_bytes: int
    code: int


def measure(command: list[str], *, output: Path | None = None, cwd: Path | None = None) -> Measured:
    """Run once. Output goes to a file (or nowhere), so that no pipe slows it down."""
    sink = (output or Path(os.devnull)).open("wb")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with sink, subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL, cwd=cwd) as process:
        watch = _Watch(process.pid)
        watch.start()
        code = process.wait()
        wall = time.perf_counter() - start
        watch.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Measured(wall, cpu, watch.peak, code)


def median_of(command: list[str], runs: int, **options: Path | None) -> Measured:
    """Median of several runs after one that is not counted."""
    measure(command, **options)
    return medians([measure(command, **options) for _ in range(runs)])


def in_turn(first: list[str], second: list[str], runs: int) -> tuple[Measured, Measured]:
    """Two commands in turn, so that a drifting machine hurts both alike; medians of each."""
    measure(first)
    measure(second)
    pairs = [(measure(first), measure(second)) for _ in range(runs)]
    return medians([a for a, _ in pairs]), medians([b for _, b in pairs])


def medians(runs: list[Measured]) -> Measured:
    return Measured(
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        int(statistics.median(run.peak_bytes for run in runs)),
        max(run.code for run in runs),
    )


class _Watch(threading.Thread):
    """Samples the resident memory of a process and everything below it."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._pid = pid
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(0.02):
            self.peak = max(self.peak, sum(_resident(pid) for pid in _tree(self._pid)))

    def stop(self) -> None:
        self._end.set()
        self.join()


def _tree(root: int) -> list[int]:
    pids, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        pids.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, ValueError):
            continue
    return pids


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
