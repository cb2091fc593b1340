"""Processes that write at once: every run lands, and the chain holds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from audit.history.address import parse_address
from audit.history.database.reading import opened
from audit.history.database.verifying import verify
from tests.history.runs import append, day, result
from tests.meta.documents import CHECKOUT

PROCESSES, EACH = 3, 5


def appending(url: str, start: Path, first: int, count: int, groups: int = 0) -> subprocess.Popen[str]:
    """A process that is ready to append."""
    arguments = (url, start, first, count, groups)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.history.appending", *map(str, arguments)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_that_begin_a_history_together(url: str, tmp_path: Path) -> None:
    start = tmp_path / "start"
    processes = [appending(url, start, number * EACH, EACH) for number in range(PROCESSES)]
    start.touch()
    said = [process.communicate(timeout=120) for process in processes]
    assert [errors for _, errors in said if errors] == []
    # They really were at it together: each began before any had ended.
    spans = [tuple(map(float, out.split())) for out, _ in said]
    assert max(begin for begin, _ in spans) < min(end for _, end in spans)
    with opened(parse_address(url)) as stored:
        links = stored.links()
        assert verify(stored).broken is None
    assert [link.number for link in links] == list(range(1, PROCESSES * EACH + 1))
    assert sorted(link.run.state_time for link in links) == [
        day(number) for number in range(PROCESSES * EACH)
    ]


def test_a_process_killed_while_it_writes_leaves_whole_runs_only(url: str, tmp_path: Path) -> None:
    append(url, result())
    process = appending(url, tmp_path, 1, 1_000, groups=400)
    deadline = time.monotonic() + 60
    runs = 1
    while runs < 4 and time.monotonic() < deadline:
        with opened(parse_address(url)) as stored:
            runs = len(stored.links())
        time.sleep(0.013)  # and then anywhere within the next
    process.kill()
    process.communicate()
    with opened(parse_address(url)) as stored:
        verdict = verify(stored)
    assert verdict.broken is None
    assert verdict.runs >= 4
    assert append(url, result(2_000)).number == verdict.runs + 1
