"""A process that appends runs as soon as a file appears: ``appending.py URL FILE FIRST COUNT``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.history.runs import append, result


def main() -> None:
    """Get ready, say so, wait, append, and say from when until when."""
    url, start, first, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    print("ready", flush=True)
    while not start.exists():
        time.sleep(0.005)
    begin = time.time()
    for number in range(first, first + count):
        append(url, result(number))
    print(begin, time.time())


main()
