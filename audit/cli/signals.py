"""Ctrl-C and SIGTERM ask the run to end with what it has; a second Ctrl-C ends it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

from audit.cli.exits import ExitCode


class StopOnSignal:
    """A `StopSignal` set by SIGINT or SIGTERM while it is entered."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._before: dict[int, object] = {}
        self.code: ExitCode | None = None
        """Exit code that the signal asks for; None while none came."""

    def is_set(self) -> bool:
        """True after the first signal."""
        return self._event.is_set()

    def __enter__(self) -> Self:
        # Signals can be handled in the main thread only; a library user in another thread keeps his own handling.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
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
        if self._event.is_set():
            raise KeyboardInterrupt
        self.code = ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED
        self._event.set()
