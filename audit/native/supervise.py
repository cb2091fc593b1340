"""Batches through a child that may die: a window of two, restarts, and bisection down to the item at fault.

A child keeps no state that cannot be sent again. When it dies, what was under way is sent once more in halves, until
the item that kills it is alone; that item is given up (a poison), the rest goes on.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

import msgspec

from audit.native.child import Child, ChildDiedError
from audit.native.frames import Kind, Message

WINDOW = 2
"""Batches under way at most: the credit that the child gives."""
MAX_POISONS = 20
"""Items given up one by one; after that many, everything else of the run is given up at once."""
BATCH_BYTES = 300_000
_FIRST_BATCH_BYTES = 30_000
_BATCH_ITEMS = 2_000

Item = TypeVar("Item")
Output = TypeVar("Output")
Output_co = TypeVar("Output_co", covariant=True)


class Work(Protocol[Item, Output_co]):
    """How items become requests, and replies outputs."""

    kind: Kind

    @property
    def last(self) -> type:
        """Type of the output that is the last one of its item."""
        ...

    def size(self, item: Item, /) -> int:
        """Bytes an item adds to its batch."""
        ...

    def encode(self, items: list[Item], /) -> bytes:
        """Payload of a batch."""
        ...

    def decode(self, message: Message, items: list[Item], /) -> Iterable[Output_co]:
        """Outputs of one part or of the end of a batch, in the order of the items."""
        ...

    def give_up(self, item: Item, reason: str, /) -> Output_co:
        """The output that closes an item which could not be worked on."""
        ...


class Batch(msgspec.Struct, Generic[Item]):
    """Items sent together, and how far their outputs have come."""

    items: list[Item]
    request: int = 0
    already: int = 0
    """Outputs of the first item delivered so far. After a restart they come again, and are dropped."""


class Supervisor:
    """Keeps one child running and sends work through it.

    Args:
        start: starts a child that is ready for work (configured, program loaded).
    """

    def __init__(self, start: Callable[[], Child]) -> None:
        self._start = start
        self._child: Child | None = None
        self._request = 0
        self.restarts = 0
        """Children started after the first one."""
        self.poisons = 0
        """Items given up, all runs together."""

    @property
    def child(self) -> Child:
        """The running child, started when needed."""
        if self._child is None:
            self._child = self._start()
        return self._child

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _bury(self) -> None:
        self.close()
        self.restarts += 1

    def next_request(self) -> int:
        """A fresh request id."""
        self._request = (self._request + 1) & 0x7FFFFFFF
        return self._request

    def call(self, kind: Kind, payload: bytes) -> bytes:
        """One request, one reply.

        Raises:
            ChildDiedError: the child died over it.
            EngineError: the child refuses it.
        """
        request = self.next_request()
        self.child.send(kind, request, payload)
        while True:
            message = self.child.receive()
            if message.request == request:
                return message.payload

    def run(self, work: Work[Item, Output], items: Iterable[Item]) -> Iterator[Output]:
        """All outputs of all items, in order, whatever happens to the child."""
        batches = _batches(work, items)
        window: collections.deque[Batch[Item]] = collections.deque()
        poisons_before = self.poisons
        more = True
        while more or window:
            try:
                while more and len(window) < WINDOW:
                    batch = next(batches, None)
                    if batch is None:
                        more = False
                        break
                    window.append(batch)
                    self._send(work, batch)
                if window:
                    yield from self._outputs(work, window[0])
                    window.popleft()
            except ChildDiedError as death:
                self._bury()
                lost = [batch for batch in window if batch.items]
                window.clear()
                if len(lost) == 1 and len(lost[0].items) > 1:
                    yield from self._in_halves(work, lost[0], str(death), poisons_before)
                    continue
                for batch in lost:
                    yield from self._carefully(work, batch, str(death), poisons_before)

    def _send(self, work: Work[Item, Output], batch: Batch[Item]) -> None:
        batch.request = self.next_request()
        self.child.send(work.kind, batch.request, work.encode(batch.items))

    def _outputs(self, work: Work[Item, Output], batch: Batch[Item]) -> Iterator[Output]:
        """Outputs of one batch. Finished items leave `batch.items` as they are delivered."""
        sent = batch.items
        batch.items = list(sent)
        finished, skip = 0, batch.already
        while True:
            message = self.child.receive()
            if message.request != batch.request:
                continue  # of a run that was left early
            for output in work.decode(message, sent):
                if skip > 0:
                    skip -= 1
                    continue
                if isinstance(output, work.last):
                    finished += 1
                    batch.items = sent[finished:]
                    batch.already = 0
                else:
                    batch.already += 1
                yield output
            if message.kind == Kind.DONE:
                batch.items = []
                return

    def _carefully(
        self, work: Work[Item, Output], batch: Batch[Item], reason: str, poisons_before: int
    ) -> Iterator[Output]:
        """Work on what a dead child left, alone and in ever smaller parts."""
        if not batch.items:
            return
        if self.poisons - poisons_before >= MAX_POISONS:
            for item in batch.items:
                yield work.give_up(item, f"given up after {MAX_POISONS} others ended the engine ({reason})")
            return
        alone = len(batch.items) == 1
        try:
            self._send(work, batch)
            yield from self._outputs(work, batch)
        except ChildDiedError as death:
            self._bury()
            if alone:
                self.poisons += 1
                yield work.give_up(batch.items[0], f"it ended the engine: {death}")
                return
            yield from self._in_halves(work, batch, str(death), poisons_before)

    def _in_halves(
        self, work: Work[Item, Output], batch: Batch[Item], reason: str, poisons_before: int
    ) -> Iterator[Output]:
        half = (len(batch.items) + 1) // 2
        first = Batch(items=batch.items[:half], already=batch.already)
        second = Batch(items=batch.items[half:])
        for part in (first, second):
            yield from self._carefully(work, part, reason, poisons_before)


def _batches(work: Work[Item, Output], items: Iterable[Item]) -> Iterator[Batch[Item]]:
    """Cut items into batches by bytes. The first one is small, so that answers start early."""
    batch: list[Item] = []
    size, limit = 0, _FIRST_BATCH_BYTES
    for item in items:
        batch.append(item)
        size += work.size(item)
        if size >= limit or len(batch) >= _BATCH_ITEMS:
            yield Batch(items=batch)
            batch, size, limit = [], 0, BATCH_BYTES
    if batch:
        yield Batch(items=batch)
