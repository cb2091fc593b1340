"""Shows how far the run is: a bar on a terminal, nothing elsewhere. Notes also go to the log."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from audit.cli.safetext import safe

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_log = logging.getLogger("audit.progress")
_REFRESH_SECONDS = 0.1


class SilentProgress:
    """A `ProgressSink` that only logs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def stage(self, name: str, total: int | None) -> None:
        """Begin a stage."""
        _log.info("stage %s%s", name, f", {total} to do" if total is not None else "")

    def advance(self, number: int = 1) -> None:
        """Nothing to show."""

    def note(self, text: str) -> None:
        """Log it."""
        _log.info("%s", text)


class BarProgress(SilentProgress):
    """A `ProgressSink` that draws a bar with counts on standard error.

    Workers advance it for every object, so counts are gathered and drawn ten times a second at most.
    """

    def __init__(self, *, color: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(file=sys.stderr, no_color=not color, highlight=False, markup=False)
        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[counts]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=1 / _REFRESH_SECONDS,
        )
        self._task: TaskID | None = None
        self._done = 0
        self._total: int | None = None
        self._next = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def stage(self, name: str, total: int | None) -> None:
        """Replace the bar by one for the next stage."""
        super().stage(name, total)
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._done, self._total = 0, total
        self._task = self._progress.add_task(safe(name, 40), total=total, counts=self._counts())

    def advance(self, number: int = 1) -> None:
        """Count, and draw if the last drawing is old enough."""
        self._done += number
        now = time.monotonic()
        if self._task is not None and (now >= self._next or self._done == self._total):
            self._next = now + _REFRESH_SECONDS
            self._progress.update(self._task, completed=self._done, counts=self._counts())

    def note(self, text: str) -> None:
        """Print above the bar."""
        super().note(text)
        self._progress.console.print(safe(text))

    def _counts(self) -> str:
        return f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
