"""Puts batches to a placement and divides those that fail, so that one object's failure costs one object's answers.

How a batch is divided depends on what failed:

- a rule raised: OPA names the module, so that rule is asked apart from the others, then object by object;
- no answer in time: every object by itself, then every rule by itself;
- lost connection, refused or unusable answer: halves; a single object is asked about twice.

A rule that raised a few times is asked apart from the start; one that ran into the time limit often is not asked any
more. A server that brings no answer many times in a row is given up: what is left becomes errors, never passes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from audit.evaluate.opa_server.answers import OddAnswerError, Reader, as_bytes
from audit.evaluate.opa_server.failures import AskError, Cause
from audit.evaluate.opa_server.placement import Placement, Question, unfit
from audit.evaluate.opa_server.settings import ServerSettings
from audit.model.finding import PairAnswer
from audit.native.evaluator import EvalRule

APART_AFTER = 5
"""Times a rule raises until it is asked apart."""
SUSPENDED_AFTER = 20
"""Objects on which a rule runs into the time limit until it is not asked any more."""
GIVEN_UP_AFTER = 24
"""Requests in a row without an answer until the server is given up."""

_TOO_LONG = "stopped: the evaluation takes too long"
_SUSPENDED = f"not asked any more: it ran into a limit on {SUSPENDED_AFTER} objects"


class Item(NamedTuple):
    """An object and the rules due for it."""

    raw: bytes
    rules: tuple[int, ...]


class _Part(NamedTuple):
    """Some objects of a batch, each with some of its rules."""

    items: tuple[tuple[int, tuple[int, ...]], ...]
    """(place in the batch, rules)."""

    def rules(self) -> set[int]:
        return {rule for _, rules in self.items for rule in rules}

    def only(self, wanted: set[int], *, inverted: bool = False) -> _Part:
        """The same objects with those rules (or without them); objects without rules fall out."""
        chosen = (
            (place, tuple(rule for rule in rules if (rule in wanted) is not inverted))
            for place, rules in self.items
        )
        return _Part(tuple((place, rules) for place, rules in chosen if rules))


class Asker:
    """Answers batches; safe for several threads.

    Args:
        placement: where the rules are.
        rules: what the numbers in `Item.rules` mean.
        settings: time limits.
    """

    def __init__(self, placement: Placement, rules: Sequence[EvalRule], settings: ServerSettings) -> None:
        self._placement = placement
        self._readers = [Reader(rule) for rule in rules]
        self._settings = settings
        self._lock = threading.Lock()
        self._raised = [0] * len(rules)
        self._stopped = [0] * len(rules)
        self._in_vain = 0
        self._dead: AskError | None = None

    def give_up(self, error: AskError) -> None:
        """From now on, every answer is this error."""
        with self._lock:
            self._dead = self._dead or error

    def answers(self, batch: Sequence[Item]) -> list[list[PairAnswer]]:
        """One list per object, in the order of its rules."""
        work = _Work(batch)
        self._solve(work, _Part(tuple((place, item.rules) for place, item in enumerate(batch) if item.rules)))
        return work.finished()

    def _solve(self, work: _Work, part: _Part) -> None:
        """Fill in the answers of a part."""
        for smaller in self._by_standing(work, part):
            dead = self._dead
            if dead is not None:
                self._fill(work, smaller, dead.reason, dead.message)
                continue
            try:
                self._ask(work, smaller)
            except AskError as error:
                self._after_failure(work, smaller, error)

    def _by_standing(self, work: _Work, part: _Part) -> list[_Part]:
        """The part, with rules that misbehave taken apart, and those that are not asked at all answered."""
        rules = part.rules()
        missing = {rule for rule in rules if rule in self._placement.missing}
        suspended = {rule for rule in rules - missing if self._stopped[rule] >= SUSPENDED_AFTER}
        slow = {rule for rule in rules - missing - suspended if self._stopped[rule]}
        raising = {rule for rule in rules - missing - suspended - slow if self._raised[rule] >= APART_AFTER}
        if not (missing or suspended or slow or raising):
            return [part] if part.items else []
        for rule in missing:
            self._fill(work, part.only({rule}), "missing_package", self._placement.missing[rule])
        self._fill(work, part.only(suspended), "timeout", _SUSPENDED)
        parts = [part.only(missing | suspended | slow | raising, inverted=True)]
        parts += [part.only({rule}) for rule in sorted(raising)]
        for rule in sorted(slow):
            parts += [_Part((item,)) for item in part.only({rule}).items]
        return [smaller for smaller in parts if smaller.items]

    def _ask(self, work: _Work, part: _Part) -> None:
        numbers: dict[tuple[int, ...], int] = {}
        for _, rules in part.items:
            numbers.setdefault(rules, len(numbers))
        question = Question(
            list(numbers), [(numbers[rules], work.batch[place].raw) for place, rules in part.items]
        )
        alone = len(part.items) == 1
        seconds = self._settings.object_seconds if alone else self._settings.timeout_seconds
        rows = self._placement.ask(question, seconds)
        found = [
            (place, rule, self._read(rule, as_bytes(raw), work.batch[place].raw))
            for (place, rules), row in zip(part.items, rows, strict=True)
            for rule, raw in zip(rules, row, strict=True)
        ]
        for place, rule, answer in found:
            work.put(place, rule, answer)
        with self._lock:
            self._in_vain = 0

    def _read(self, rule: int, raw: bytes, subject: bytes) -> PairAnswer:
        reader = self._readers[rule]
        try:
            return reader.read(raw)
        except OddAnswerError:
            look = self._placement.look(rule, subject, self._settings.object_seconds)
            try:
                return reader.explain(look)
            except ValueError as error:
                raise unfit("contradicts itself") from error
        except ValueError as error:
            raise unfit("is not what was asked for") from error

    def _after_failure(self, work: _Work, part: _Part, error: AskError) -> None:
        if error.cause is Cause.DENIED:
            self.give_up(error)
        elif error.cause is Cause.EVALUATION:
            with self._lock:
                self._in_vain = 0
        else:
            self._count_in_vain(error)
        if self._dead is not None:
            self._solve(work, part)
        elif error.cause is Cause.EVALUATION:
            self._after_raise(work, part, error)
        elif error.cause is Cause.SLOW:
            self._after_timeout(work, part)
        elif len(part.items) > 1:
            self._halves(work, part)
        elif error.cause is Cause.REFUSED and len(part.rules()) > 1:
            self._rule_halves(work, part)
        elif error.cause is Cause.LOST and not work.once_more(part.items[0][0]):
            self._solve(work, part)  # what others asked may have brought the server down
        else:
            self._fill(work, part, error.reason, error.message)

    def _count_in_vain(self, error: AskError) -> None:
        """Look whether the server is there at all; many failures in a row are its fault, not that of an object."""
        reached = self._placement.revive()
        with self._lock:
            self._in_vain += 1
            if self._in_vain >= GIVEN_UP_AFTER or not reached:
                message = f"the OPA server was given up: {error.message}"
                self._dead = self._dead or AskError(error.cause, error.reason, message)

    def _after_raise(self, work: _Work, part: _Part, error: AskError) -> None:
        culprit = self._placement.rule_at(error.file, error.row)
        rules = part.rules()
        if culprit in rules and len(rules) > 1:
            self._solve(work, part.only({culprit}, inverted=True))
            self._solve(work, part.only({culprit}))
        elif len(part.items) > 1:
            self._halves(work, part)
        elif len(rules) > 1:
            self._rule_halves(work, part)
        else:
            with self._lock:
                self._raised[next(iter(rules))] += 1
            place = "{}:{}: ".format(*self._placement.place(error.file, error.row)) if error.row else ""
            self._fill(work, part, error.reason, place + self._placement.in_our_words(error.message))

    def _after_timeout(self, work: _Work, part: _Part) -> None:
        if len(part.items) > 1:
            for item in part.items:
                self._solve(work, _Part((item,)))
            return
        ((place, rules),) = part.items
        if len(rules) > 1:
            for rule in rules:
                self._solve(work, _Part(((place, (rule,)),)))
            return
        with self._lock:
            self._stopped[rules[0]] += 1
        self._fill(work, part, "timeout", _TOO_LONG)

    def _halves(self, work: _Work, part: _Part) -> None:
        middle = len(part.items) // 2
        self._solve(work, _Part(part.items[:middle]))
        self._solve(work, _Part(part.items[middle:]))

    def _rule_halves(self, work: _Work, part: _Part) -> None:
        ((place, rules),) = part.items
        middle = len(rules) // 2
        self._solve(work, _Part(((place, rules[:middle]),)))
        self._solve(work, _Part(((place, rules[middle:]),)))

    def _fill(self, work: _Work, part: _Part, reason: str, message: str) -> None:
        for place, rules in part.items:
            for rule in rules:
                work.put(place, rule, self._readers[rule].error(reason, message))


class _Work:
    """A batch and the answers found so far."""

    def __init__(self, batch: Sequence[Item]) -> None:
        self.batch = batch
        self._found: list[dict[int, PairAnswer]] = [{} for _ in batch]
        self._again: set[int] = set()

    def once_more(self, place: int) -> bool:
        """Whether an object was asked about a second time already; from now on it was."""
        again = place in self._again
        self._again.add(place)
        return again

    def put(self, place: int, rule: int, answer: PairAnswer) -> None:
        self._found[place][rule] = answer

    def finished(self) -> list[list[PairAnswer]]:
        return [
            [found[rule] for rule in item.rules] for item, found in zip(self.batch, self._found, strict=True)
        ]
