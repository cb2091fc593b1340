"""The process that reads one file with pickles: the file is its standard input, its answer are lines of JSON.

It limits its own memory and processor time, may not write a file, and imports nothing but the standard library and its fellows in
this folder. A line ``{"import": NAME}`` is told at once, so that it is known even when the process is ended.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any, BinaryIO, cast

from audit.collect.artifacts.model.pickle_allowed import ALLOWED
from audit.collect.artifacts.model.pickle_containers import Contents
from audit.collect.artifacts.model.pickle_machine import Found
from audit.collect.artifacts.model.pickle_source import OverLimitError


def main() -> None:
    """Answer about standard input. Arguments: bytes of memory, seconds of processor time."""
    _limit(memory=int(sys.argv[1]), seconds=int(sys.argv[2]))
    contents = Contents(Found(ALLOWED, lambda name: _say({"import": name[:300]})))
    over = ""
    try:
        contents.examine(cast("BinaryIO", io.BufferedReader(io.FileIO(0, closefd=False), 1 << 16)))
    except OverLimitError as error:
        over = str(error)
    except (MemoryError, RecursionError):
        over = "it needs more memory than allowed"
    _say({"done": contents.facts(), "over": over})


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _limit(*, memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # no such thing on Windows; there the clock of the parent is the only limit
        return
    for name, value in (
        ("RLIMIT_AS", memory),
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NOFILE", 16),
    ):
        resource.setrlimit(getattr(resource, name), (value, value))


if __name__ == "__main__":
    main()
