"""Processes that write at once: every run lands, and the chain holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from audit.history.address import parse_address
from audit.history.database.reading import opened
from audit.history.database.verifying import verify
from tests.history.runs import day
from tests.meta.documents import CHECKOUT

PROCESSES, EACH = 3, 5


def test_processes_that_begin_a_history_together(url: str, tmp_path: Path) -> None:
    start = tmp_path / "start"
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.history.appending", url, start, str(number * EACH), str(EACH)],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
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
