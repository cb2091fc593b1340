"""Rego rules, answered by an OPA server: an `Engine` whose findings equal those of the embedded one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from audit.errors import EngineError
from audit.evaluate.opa_server.asker import Asker, Item
from audit.evaluate.opa_server.bundled import BundledPlacement
from audit.evaluate.opa_server.failures import AskError, Cause
from audit.evaluate.opa_server.placed import ManagedPlacement, PushedPlacement
from audit.evaluate.opa_server.placement import Placement
from audit.evaluate.opa_server.program import Program
from audit.evaluate.opa_server.settings import ServerSettings
from audit.model.finding import Outcome, PairAnswer
from audit.model.gap import Notice
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.model.subject import derived_key
from audit.native.evaluator import EvalRule
from audit.ports import CollectedObject

_BATCH_OBJECTS = 100
_BATCH_BYTES = 2 << 20
_BATCHES_AHEAD = 2
"""Batches under way or waiting, per connection: reading goes on while the server works."""


class OpaServerEngine:
    """Asks one server about objects, several batches at a time.

    Args:
        placement: the rules on the server; closed with the engine.
        rules: the selected rules.
        asked: the same as the placement knows them.
        settings: time limits and number of connections.
    """

    def __init__(
        self,
        placement: Placement,
        rules: tuple[Rule, ...],
        asked: Sequence[EvalRule],
        settings: ServerSettings,
    ) -> None:
        self._placement = placement
        self._rules = rules
        self._asked = tuple(asked)
        self._asker = Asker(placement, asked, settings)
        self._jobs = max(settings.jobs, 1)
        self._pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="opa-server")
        self._version = placement.engine_version()
        self._by_kind: dict[str, tuple[int, ...]] = {}

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the report should say of the server."""
        return self._placement.notices

    def version(self) -> EngineVersion:
        """What the server told when it was started or first asked."""
        return self._version

    def rules(self) -> tuple[Rule, ...]:
        """The selected Rego rules."""
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order.

        Raises:
            EngineError: the inventory is no JSON object.
        """
        del cluster
        return self.answers(
            (
                (derived_key(item.ref.kind_key) if item.ref.derived else item.ref.kind_key, item.raw)
                for item in objects
            ),
            inventory,
        )

    def answers(self, objects: Iterable[tuple[str, bytes]], inventory: bytes) -> Iterator[list[PairAnswer]]:
        """For each (kind key, JSON) one answer per rule of that kind, in order.

        Raises:
            EngineError: the inventory is no JSON object.
        """
        try:
            msgspec.json.decode(inventory, type=dict[str, msgspec.Raw])
        except msgspec.DecodeError as error:
            raise EngineError("the inventory is no JSON object") from error
        try:
            self._place(inventory)
        except AskError as error:
            return self._failed(objects, error)
        return self._stream(objects)

    def _place(self, inventory: bytes) -> None:
        try:
            self._placement.set_inventory(inventory)
        except AskError as error:
            if error.cause is not Cause.LOST or not self._placement.revive():
                raise
            self._placement.set_inventory(inventory)

    def close(self) -> None:
        """Wait for what is under way, then take the rules off the server."""
        self._asker.give_up(AskError(Cause.LOST, "engine_failed", "the run was ended"))
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._placement.close()

    def _stream(self, objects: Iterable[tuple[str, bytes]]) -> Iterator[list[PairAnswer]]:
        waiting: deque[Future[list[list[PairAnswer]]]] = deque()
        try:
            for batch in _batches(objects):
                if len(waiting) >= self._jobs * _BATCHES_AHEAD:
                    yield from waiting.popleft().result()
                waiting.append(self._pool.submit(self._judge, batch))
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def _failed(self, objects: Iterable[tuple[str, bytes]], error: AskError) -> Iterator[list[PairAnswer]]:
        """Answers about a cluster whose inventory the server does not have."""
        for kind, _ in objects:
            yield [self._error(rule, error.reason, error.message) for rule in self._due(kind)]

    def _judge(self, batch: Sequence[tuple[str, bytes]]) -> list[list[PairAnswer]]:
        items = [Item(raw, self._due(kind)) for kind, raw in batch]
        broken = {place for place, item in enumerate(items) if item.rules and not _is_json(item.raw)}
        sound = [item for place, item in enumerate(items) if place not in broken]
        answers = iter(self._asker.answers(sound))
        return [
            [self._error(rule, "bad_input", "the object is no JSON") for rule in item.rules]
            if place in broken
            else next(answers)
            for place, item in enumerate(items)
        ]

    def _due(self, kind: str) -> tuple[int, ...]:
        known = self._by_kind.get(kind)
        if known is None:
            known = self._by_kind[kind] = tuple(
                number for number, rule in enumerate(self._asked) if not rule.kinds or kind in rule.kinds
            )
        return known

    def _error(self, rule: int, reason: str, message: str) -> PairAnswer:
        return PairAnswer(self._asked[rule].id, Outcome.ERROR, reason=reason, message=message)


def _is_json(raw: bytes) -> bool:
    """Objects are pasted into a batch, so a broken one must not spoil its neighbours."""
    try:
        raw.decode("utf-8")
        msgspec.json.decode(raw, type=msgspec.Raw)
    except RecursionError:
        return True  # deeper than can be checked here; the server will say
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _batches(objects: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for item in objects:
        if batch and (len(batch) >= _BATCH_OBJECTS or size + len(item[1]) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item[1])
    if batch:
        yield batch


def open_engine(
    program: Program,
    rules: tuple[Rule, ...],
    settings: ServerSettings,
    *,
    say: Callable[[str], None],
) -> OpaServerEngine:
    """Start or reach the server, put the rules there if need be, and get ready to ask.

    Args:
        program: modules and data; `Program.rules` are those of `rules`, in the same order.
        rules: the selected rules.
        settings: the server.
        say: told what takes long, and what could not be removed.

    Raises:
        EngineError: the server can't be used. Nothing is left running or lying about.
    """
    if settings.ca and not Path(settings.ca).is_file():
        raise EngineError(f"there is no file {settings.ca}", suggestion="name it in engine.opa.ca")
    placement: Placement
    if not settings.url:
        placement = ManagedPlacement(program, settings)
    elif settings.bundle:
        placement = BundledPlacement(program, settings)
    else:
        placement = PushedPlacement(program, settings, say)
    try:
        return OpaServerEngine(placement, rules, program.rules, settings)
    except BaseException:
        placement.close()
        raise
