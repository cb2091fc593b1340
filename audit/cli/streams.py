"""Standard streams that are closed, full, or read by nobody: each is said where it can be, and none changes a verdict."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TextIO

from audit.cli.screen import abandon


class _Output(io.TextIOWrapper):
    """Standard output: an error of it names it."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise _named(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _named(error) from None


class _Errors(io.TextIOWrapper):
    """Standard error: where it can't be written there is nobody to tell, so the work goes on in silence."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            abandon(self)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            abandon(self)


def prepare_streams() -> None:
    """Make the standard streams usable, whatever the caller gave us."""
    _occupy()
    if sys.stdout is None:
        sys.stdout = _nowhere()
    elif sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _again(_Output, sys.stdout)
    if sys.stderr is None:
        sys.stderr = _nowhere()
    elif sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _again(_Errors, sys.stderr)


def settle_stdout() -> None:
    """The interpreter flushes once more at its end, and would answer a full disk there with a code of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        abandon(sys.stdout)


def is_closed(stream: TextIO | None) -> bool:
    """Whether the caller started us without this stream (``<&-``, ``>&-``)."""
    return stream is None or stream.name == os.devnull


def _occupy() -> None:
    """Take the numbers of closed streams: a file of ours that got one would be taken for the stream by children."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _again(kind: type[io.TextIOWrapper], stream: io.TextIOWrapper) -> TextIO:
    """The same stream with other manners. Names of files may hold what its encoding lacks: a question mark is printed."""
    return kind(
        stream.buffer, encoding=stream.encoding, errors="replace", line_buffering=stream.line_buffering
    )


def _named(error: OSError) -> OSError:
    return type(error)(error.errno, error.strerror, "standard output")
