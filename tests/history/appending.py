"""A process that appends runs as soon as a file appears: ``appending.py URL FILE FIRST COUNT GROUPS``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests import builders as b
from tests.history.runs import append, result


def main() -> None:
    """Get ready, say so, wait, append, and say from when until when."""
    url, start = sys.argv[1], Path(sys.argv[2])
    first, count, groups = map(int, sys.argv[3:])
    many = [b.group(b.finding(subject=b.subject(f"web-{number}"))) for number in range(groups)]
    print("ready", flush=True)
    while not start.exists():
        time.sleep(0.005)
    begin = time.time()
    for number in range(first, first + count):
        append(url, result(number, *many))
    print(begin, time.time())


main()
