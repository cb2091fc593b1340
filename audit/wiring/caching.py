"""Which engines' answers are remembered between runs, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from audit.collect.artifacts.digests import Digests
from audit.config.schema import Config
from audit.evaluate.cache.engine import CachedEngine
from audit.evaluate.cache.identity import identity_of
from audit.evaluate.cache.store import AnswerStore
from audit.ports import Engine

_FOLDER = Path("fleetaudit") / "answers"
_DIGESTS = Path("fleetaudit") / "digests"
_DIGESTS_BYTES = 32 << 20


class ResultCache:
    """Puts a cache in front of engines. What goes wrong with it is said, and costs time only.

    Args:
        config: whether it is wanted, where, and how large.
        stack: closes the store.
        say: told of trouble.
    """

    def __init__(self, config: Config, stack: ExitStack, say: Callable[[str], None]) -> None:
        self._engines: list[CachedEngine] = []
        self._wanted = config.result_cache.enabled and not config.policy.allow_builtins
        self._open: Callable[[], AnswerStore] = lambda: AnswerStore(
            answers_folder(config), config.result_cache.max_bytes, say
        )
        self._stack = stack
        self._store: AnswerStore | None = None

    def before(
        self,
        engine: Engine,
        sources: Mapping[str, object],
        *,
        always_seen: frozenset[str] | None = frozenset(),
    ) -> Engine:
        """The engine with a cache before it, or the engine itself where its answers can't be remembered.

        Args:
            engine: one whose answers follow from the object, its rules, `sources` and the inventory alone.
            sources: everything it was given, by label.
            always_seen: kinds of the inventory that every answer may depend on; None for all of it.
        """
        if not self._wanted:
            return engine
        texts = {label: msgspec.json.encode(value, order="sorted") for label, value in sources.items()}
        identity = identity_of(engine.version(), engine.rules(), texts, always_seen=always_seen)
        if identity is None:
            return engine
        if self._store is None:
            self._store = self._open()
            self._stack.callback(self._store.close)
        cached = CachedEngine(engine, identity, self._store)
        self._engines.append(cached)
        return cached

    @property
    def known(self) -> int:
        """Questions (an object put to an engine) that were answered by an earlier run."""
        return sum(engine.known for engine in self._engines)

    @property
    def asked(self) -> int:
        """Questions that were put."""
        return sum(engine.asked for engine in self._engines)


def answers_folder(config: Config) -> Path:
    """Folder of the answers of earlier runs."""
    return (Path(config.cache) if config.cache else Path.home() / ".cache") / _FOLDER


def digests_of(config: Config, stack: ExitStack, say: Callable[[str], None]) -> Digests:
    """Digests of files, those of large ones remembered between runs where answers are.

    Args:
        config: whether anything is remembered, and where.
        stack: closes the store.
        say: told of trouble, and how far a large file is.
    """
    if not config.result_cache.enabled:
        return Digests(say=say)
    folder = (Path(config.cache) if config.cache else Path.home() / ".cache") / _DIGESTS
    return Digests(_LateStore(folder, stack, say), say)


class _LateStore:
    """A store that is opened when the first large file is met: most audits meet none."""

    def __init__(self, folder: Path, stack: ExitStack, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._stack = stack
        self._say = say
        self._store: AnswerStore | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The digests that are there."""
        return self._opened().read(keys)

    def write(self, key: bytes, value: bytes) -> None:
        """Remember a digest."""
        self._opened().write(key, value)

    def _opened(self) -> AnswerStore:
        if self._store is None:
            self._store = AnswerStore(self._folder, _DIGESTS_BYTES, self._say)
            self._stack.callback(self._store.close)
        return self._store
