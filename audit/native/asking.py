"""How objects become requests of the child, and its letters become answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from audit.model.finding import Outcome, PairAnswer, Violation
from audit.native import frames
from audit.native.frames import Kind, Message


class EvalRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule to ask."""

    id: str
    package: str
    """For example ``pod.privileged``; it must define ``applies`` and ``violations``."""
    kinds: tuple[str, ...] = ()
    """Kind keys it is asked of; empty means every kind."""
    not_applicable: str = "does_not_apply"
    """Reason of a skip."""
    warn_only: bool = False


class _Detail(msgspec.Struct, frozen=True, array_like=True):
    place: int
    code: str
    message: str
    violations: tuple[Violation, ...]


class _Wire(msgspec.Struct, frozen=True, array_like=True):
    letters: str
    details: tuple[_Detail, ...]


class _Class(NamedTuple):
    """The rules of one kind, in the order of the child's letters, with their ready-made answers."""

    rules: list[EvalRule]
    ready: dict[str, list[PairAnswer]]
    """Answers by rule place, per letter that needs no details."""
    whole: dict[str, list[PairAnswer]]
    """Complete answer lists by letters; most objects of a kind are alike."""


_LETTERS = {"p": Outcome.PASS, "s": Outcome.SKIP, "f": Outcome.FAIL, "w": Outcome.WARN, "e": Outcome.ERROR}
_MAX_WHOLE = 4096


class Asking:
    """Objects to answers."""

    kind = Kind.BATCH
    last = list

    def __init__(self, rules: tuple[EvalRule, ...]) -> None:
        self._rules = rules
        self._classes: dict[str, _Class] = {}
        self._decoder = msgspec.msgpack.Decoder(list[_Wire])

    def class_of(self, kind: str) -> _Class:
        """The rules asked of a kind, remembered."""
        known = self._classes.get(kind)
        if known is None:
            rules = [rule for rule in self._rules if not rule.kinds or kind in rule.kinds]
            ready = {
                "p": [PairAnswer(rule.id, Outcome.PASS) for rule in rules],
                "s": [PairAnswer(rule.id, Outcome.SKIP, reason=rule.not_applicable) for rule in rules],
            }
            known = self._classes[kind] = _Class(rules, ready, {})
        return known

    def size(self, item: tuple[str, bytes]) -> int:
        """Bytes an object adds to its batch."""
        return len(item[1]) + 32

    def encode(self, items: list[tuple[str, bytes]]) -> bytes:
        """Payload of a batch; objects that no rule wants travel without their content."""
        pieces = [frames.U32.pack(len(items))]
        for kind, raw in items:
            pieces += frames.field(kind.encode())
            pieces += frames.field(raw if self.class_of(kind).rules else b"")
        return b"".join(pieces)

    def decode(self, message: Message, items: list[tuple[str, bytes]]) -> Iterator[list[PairAnswer]]:
        """One list of answers per object, in order."""
        if message.kind != Kind.DONE:
            return
        for (kind, _), wire in zip(items, self._decoder.decode(message.payload), strict=True):
            yield self._answers(self.class_of(kind), wire)

    def _answers(self, known: _Class, wire: _Wire) -> list[PairAnswer]:
        letters = wire.letters
        if not wire.details:
            whole = known.whole.get(letters)
            if whole is None:
                whole = [known.ready[letter][place] for place, letter in enumerate(letters)]
                if len(known.whole) < _MAX_WHOLE:
                    known.whole[letters] = whole
            return whole
        details = {detail.place: detail for detail in wire.details}
        answers: list[PairAnswer] = []
        for place, letter in enumerate(letters):
            detail = details.get(place)
            if detail is None:
                answers.append(known.ready[letter][place])
                continue
            rule = known.rules[place]
            answers.append(
                PairAnswer(rule.id, _LETTERS[letter], detail.violations, detail.code, detail.message)
            )
        return answers

    def give_up(self, item: tuple[str, bytes], reason: str) -> list[PairAnswer]:
        """Error answers of an object that ended the engine."""
        return [
            PairAnswer(rule.id, Outcome.ERROR, reason="engine_failed", message=reason)
            for rule in self.class_of(item[0]).rules
        ]
