"""What owns a child: starts it when it is first needed, tells every new one what it must know, and ends it on leaving."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from audit.native.child import Child
from audit.native.frames import Kind
from audit.native.supervise import Supervisor


class ChildOwner:
    """Base of the classes that work through one child.

    Args:
        mode: of the child, ``eval`` or ``read``.
        jobs: cores to use.
        memory_bytes: bound on the child's memory.
        item_seconds: what one item may cost.
    """

    def __init__(self, mode: str, *, jobs: int, memory_bytes: int, item_seconds: float) -> None:
        self._mode = mode
        self._jobs = jobs
        self._memory_bytes = memory_bytes
        self._item_seconds = item_seconds
        self._supervisor = Supervisor(self._start)

    def _told_first(self) -> Iterable[tuple[Kind, bytes]]:
        """What every new child is told before anything else: it replaces one that was lost."""
        return ()

    def _start(self) -> Child:
        child = Child(
            self._mode, jobs=self._jobs, memory_bytes=self._memory_bytes, item_seconds=self._item_seconds
        )
        for kind, payload in self._told_first():
            child.send(kind, 0, payload)
            child.receive()
        return child

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        self._supervisor.close()

    @property
    def supervisor(self) -> Supervisor:
        """The child's keeper, for its counters."""
        return self._supervisor
