"""Ctrl-C, SIGTERM and SIGHUP ask the run to end with what it has; a second one ends it at once."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Self, TextIO

from audit.cli.exits import ExitCode
from audit.cli.screen import abandon

_CODES = {
    signal.SIGHUP: ExitCode.HUNG_UP,
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
}


class Insisted(KeyboardInterrupt):
    """Asked twice.

    Args:
        code: exit code of the signal that insisted.
    """

    def __init__(self, code: ExitCode) -> None:
        super().__init__()
        self.code = code


class StopOnSignal:
    """A `StopSignal` set by a signal while it is entered."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._before: dict[int, object] = {}
        self.code: ExitCode | None = None
        """Exit code that the signal asks for; None while none came."""
        self._terminals = [stream for stream in (sys.stdout, sys.stderr) if stream.isatty()]

    def is_set(self) -> bool:
        """True after the first signal."""
        return self._event.is_set()

    def __enter__(self) -> Self:
        # Signals can be handled in the main thread only; a library user in another thread keeps his own handling.
        if threading.current_thread() is threading.main_thread():
            for number in _CODES:
                # What the caller ignores (nohup, a shell's background job) stays ignored.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal itself returned

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        code = _CODES[signal.Signals(number)]
        if self._event.is_set():
            raise Insisted(code)
        self.code = code
        if number == signal.SIGHUP:
            _leave_terminal(self._terminals)
        self._event.set()


def _leave_terminal(streams: list[TextIO]) -> None:
    """Write nothing more to a terminal that went away: every attempt would be an error."""
    for stream in streams:
        if not stream.isatty():
            abandon(stream)
