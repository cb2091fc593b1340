"""An engine that asks another one only about what no earlier run was told."""

from __future__ import annotations

import collections
import contextlib
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from audit.evaluate.cache.identity import EngineIdentity, Surroundings
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.ports import CollectedObject, Engine

_BATCH = 256
_LETTERS = {Outcome.PASS: "p", Outcome.SKIP: "s", Outcome.FAIL: "f", Outcome.WARN: "w"}
_OUTCOMES = {letter: outcome for outcome, letter in _LETTERS.items()}
_MAX_SHARED = 4096


class Store(Protocol):
    """Where answers are kept."""

    def read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """The values that are there."""
        ...

    def write(self, key: bytes, value: bytes) -> None:
        """Remember one."""
        ...


class _Detail(msgspec.Struct, frozen=True, array_like=True):
    place: int
    violations: tuple[Violation, ...]
    reason: str
    message: str
    caveats: tuple[str, ...]
    accepted_by: str


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    letters: str
    details: tuple[_Detail, ...]


class _Kind(msgspec.Struct, frozen=True):
    """What is the same for all objects of a kind."""

    rules: tuple[Rule, ...]
    key: bytes
    """Everything an answer depends on, without the object."""
    plain: dict[str, tuple[PairAnswer, ...]]
    """Answers by rule place, per letter that needs no details."""
    shared: dict[str, list[PairAnswer]]
    """Complete answer lists by letters: most objects of a kind are alike."""


class CachedEngine:
    """An `Engine` in front of another. Errors are never remembered, nor is an incomplete list of answers.

    Args:
        engine: the one that knows.
        identity: of `engine` with all it was given.
        store: where answers are kept.
    """

    def __init__(self, engine: Engine, identity: EngineIdentity, store: Store) -> None:
        self.inner = engine
        self._identity = identity
        self._store = store
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(_Entry)
        self.asked = 0
        """Objects that the engine was asked about."""
        self.known = 0
        """Objects whose answers were known."""
        self.accepted_by: set[str] = set()
        """Exceptions that known answers name: the engine itself didn't see them used."""

    def version(self) -> EngineVersion:
        """That of the engine."""
        return self.inner.version()

    def rules(self) -> tuple[Rule, ...]:
        """Those of the engine."""
        return self.inner.rules()

    def close(self) -> None:
        """Close the engine. The store may serve others."""
        self.inner.close()

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order. Known answers wait in their short form while the engine looks ahead."""
        surroundings = Surroundings(inventory)
        kinds: dict[tuple[str, bool], _Kind] = {}
        waiting: collections.deque[tuple[_Kind, bytes, _Entry | None]] = collections.deque()

        def unknown() -> Iterator[CollectedObject]:
            stream = iter(objects)
            while batch := list(itertools.islice(stream, _BATCH)):
                keyed = [(item, *self._keyed(item, kinds, surroundings)) for item in batch]
                found = self._store.read([key for _, kind, key in keyed if kind.rules])
                for item, kind, key in keyed:
                    entry = self._entry(kind, found.get(key)) if kind.rules else _Entry("", ())
                    waiting.append((kind, key, entry))
                    if entry is None:
                        yield item

        answered = self.inner.evaluate(cluster, unknown(), inventory)
        for answers in answered:
            yield from self._known(waiting)
            kind, key, _ = waiting.popleft()
            self.asked += 1
            self._remember(kind, key, answers)
            yield answers
        yield from self._known(waiting)

    def _known(
        self, waiting: collections.deque[tuple[_Kind, bytes, _Entry | None]]
    ) -> Iterator[list[PairAnswer]]:
        """Known answers up to the next object that was asked about."""
        while waiting and (entry := waiting[0][2]) is not None:
            kind, _, _ = waiting.popleft()
            self.known += bool(kind.rules)
            yield self._answers(kind, entry)

    def _keyed(
        self, item: CollectedObject, kinds: dict[tuple[str, bool], _Kind], surroundings: Surroundings
    ) -> tuple[_Kind, bytes]:
        ref = item.ref
        kind = kinds.get((ref.kind_key, ref.derived))
        if kind is None:
            kind = self._kind(ref.kind_key, derived=ref.derived, surroundings=surroundings)
            kinds[ref.kind_key, ref.derived] = kind
        return kind, hashlib.blake2b(item.raw, digest_size=16, key=kind.key).digest()

    def _kind(self, key: str, *, derived: bool, surroundings: Surroundings) -> _Kind:
        rules = tuple(
            rule for rule in self.inner.rules() if rule.matches(key) and (not derived or rule.match_derived)
        )
        always = self._identity.always_seen
        seen = None if always is None else always.union(*(rule.context_kinds for rule in rules))
        parts = (self._identity.digest, surroundings.digest(seen), f"{key}\0{derived}".encode())
        return _Kind(
            rules=rules,
            key=hashlib.sha256(b"\0".join(parts)).digest(),
            plain={
                "p": tuple(PairAnswer(rule.id, Outcome.PASS) for rule in rules),
                "s": tuple(PairAnswer(rule.id, Outcome.SKIP, reason=rule.not_applicable) for rule in rules),
            },
            shared={},
        )

    def _entry(self, kind: _Kind, value: bytes | None) -> _Entry | None:
        if value is None:
            return None
        try:
            entry = self._decoder.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return None
        places = [detail.place for detail in entry.details]
        bare = set("fw") & {letter for place, letter in enumerate(entry.letters) if place not in places}
        fits = len(entry.letters) == len(kind.rules) and set(entry.letters) <= set(_OUTCOMES) and not bare
        return entry if fits else None

    def _answers(self, kind: _Kind, entry: _Entry) -> list[PairAnswer]:
        if not entry.details:
            whole = kind.shared.get(entry.letters)
            if whole is None:
                whole = [kind.plain[letter][place] for place, letter in enumerate(entry.letters)]
                if len(kind.shared) < _MAX_SHARED:
                    kind.shared[entry.letters] = whole
            return whole
        details = {detail.place: detail for detail in entry.details}
        answers: list[PairAnswer] = []
        for place, letter in enumerate(entry.letters):
            detail = details.get(place)
            if detail is None:
                answers.append(kind.plain[letter][place])
                continue
            if detail.accepted_by:
                self.accepted_by.add(detail.accepted_by)
            answers.append(
                PairAnswer(
                    kind.rules[place].id,
                    _OUTCOMES[letter],
                    detail.violations,
                    detail.reason,
                    detail.message,
                    detail.caveats,
                    detail.accepted_by,
                )
            )
        return answers

    def _remember(self, kind: _Kind, key: bytes, answers: list[PairAnswer]) -> None:
        if [answer.rule for answer in answers] != [rule.id for rule in kind.rules]:
            return
        letters = [_LETTERS.get(answer.outcome, "") for answer in answers]
        if "" in letters:
            return
        details = [
            _Detail(place, a.violations, a.reason, a.message, a.caveats, a.accepted_by)
            for place, (a, letter) in enumerate(zip(answers, letters, strict=True))
            if letter not in kind.plain or a != kind.plain[letter][place]
        ]
        with contextlib.suppress(
            OverflowError, TypeError
        ):  # a number too large to write: asked again next time
            self._store.write(key, self._encoder.encode(_Entry("".join(letters), tuple(details))))
