"""From answers to kept findings, beside the evaluation: lines and columns are looked up while engines go on judging."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import msgspec

from audit.model.finding import Finding, Outcome, PairAnswer, Violation
from audit.model.rule import Rule
from audit.model.subject import Place, SubjectRef
from audit.record.findings import FindingStore

Path = tuple[str | int, ...]

# Positions are asked for in batches: one parse of a file answers for all of its objects.
_BATCH_OBJECTS = 500
# More than this many batches under way would only be held in memory.
_BATCHES_AHEAD = 2


class PlaceFinder(Protocol):
    """Finds lines and columns; one list per asked subject, one place (or None) per path."""

    def places(self, asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
        """Places of all paths, in the order asked."""
        ...


class Answered(msgspec.Struct, frozen=True):
    """The answers about one object that are worth showing, each with the waiver that accepts it or ``""``."""

    ref: SubjectRef
    answers: Sequence[tuple[PairAnswer, str]]


class FindingKeeper:
    """Resolves positions and stores findings, in one thread of its own.

    Args:
        rules: all loaded rules by id.
        places: resolves positions. Nobody else may use what it uses until `settle` has returned.
        findings: where findings go.
    """

    def __init__(self, rules: Mapping[str, Rule], places: PlaceFinder, findings: FindingStore) -> None:
        self._rules = rules
        self._places = places
        self._findings = findings
        self._waiting: list[Answered] = []
        self._limit = _BATCH_OBJECTS
        self._under_way: deque[Future[None]] = deque()
        self._thread: ThreadPoolExecutor | None = None

    def add(self, answered: Answered) -> None:
        """Keep the findings of one object, sooner or later.

        Raises:
            Exception: what went wrong with an earlier object.
        """
        waiting = self._waiting
        if len(waiting) >= _BATCH_OBJECTS:
            same_file = waiting[-1].ref.source == answered.ref.source
            if not same_file or len(waiting) >= self._limit:
                # Each batch reads its files anew, so those within one large file grow.
                self._limit = self._limit * 2 if same_file else _BATCH_OBJECTS
                self._hand_over()
        self._waiting.append(answered)

    def settle(self) -> None:
        """Wait until all findings are kept.

        Raises:
            Exception: what went wrong with any object.
        """
        if self._waiting:
            self._hand_over()
        while self._under_way:
            self._under_way.popleft().result()
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    def abandon(self) -> None:
        """End the thread; what was not kept yet is lost. Does nothing when everything is settled."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
            self._thread = None

    def _hand_over(self) -> None:
        batch, self._waiting = self._waiting, []
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="findings")
        while len(self._under_way) >= _BATCHES_AHEAD:
            self._under_way.popleft().result()
        self._under_way.append(self._thread.submit(self._keep_all, batch))

    def _keep_all(self, batch: list[Answered]) -> None:
        asked = [
            (entry.ref, [v.path for answer, _ in entry.answers for v in answer.violations]) for entry in batch
        ]
        for entry, places in zip(batch, self._places.places(asked), strict=True):
            place = iter(places)
            for answer, waiver in entry.answers:
                for violation in answer.violations:
                    self._keep(entry.ref, answer, violation, next(place), waiver)
                if not answer.violations:
                    violation = Violation(message=answer.message)
                    self._keep(entry.ref, answer, violation, object_place(entry.ref), waiver)

    def _keep(
        self, ref: SubjectRef, answer: PairAnswer, violation: Violation, place: Place | None, waiver: str
    ) -> None:
        rule = self._rules[answer.rule]
        self._findings.add(
            Finding(
                rule=rule.id,
                subject=ref,
                outcome=answer.outcome,
                severity=rule.severity,
                violation=violation,
                place=place,
                error=answer.reason if answer.outcome is Outcome.ERROR else "",
                waiver=waiver,
                said=answer.said,
                caveats=answer.caveats,
            )
        )


def object_place(ref: SubjectRef) -> Place | None:
    """Where the object itself begins; None for derived subjects."""
    return Place(file=ref.source, line=ref.line, approximate=True) if ref.source else None
