"""Where answers become what is kept: the tally, the population file and the findings. Waivers are applied here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from audit.model.finding import (
    CONTEXT_INCOMPLETE,
    MANIFEST_NOT_COLLECTED,
    Finding,
    Outcome,
    PairAnswer,
    Violation,
)
from audit.model.gap import Notice
from audit.model.rule import Rule
from audit.model.subject import Place, SubjectRef
from audit.model.tally import Tally
from audit.ports import CollectedObject
from audit.record.findings import FindingStore
from audit.record.population import PopulationWriter

WaiverMatch = Callable[[str, SubjectRef, tuple[Violation, ...]], str | None]
"""(rule, subject, violations) to the id of the live waiver that accepts all of them."""

Path = tuple[str | int, ...]

_EXPLAINED = frozenset({CONTEXT_INCOMPLETE, MANIFEST_NOT_COLLECTED})

# Positions are asked for in batches: one parse of a file answers for all of its objects.
_PENDING_OBJECTS = 2_000


class PlaceFinder(Protocol):
    """Finds lines and columns; one list per asked subject, one place (or None) per path."""

    def places(self, asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
        """Places of all paths, in the order asked."""
        ...


class _Pending(msgspec.Struct, frozen=True):
    ref: SubjectRef
    answers: list[tuple[PairAnswer, str]]


class Ledger:
    """Books every pair exactly once.

    Args:
        rules: all loaded rules by id.
        waiver_of: finds the live waiver of a failed pair.
        places: resolves positions of findings.
        findings: where findings go.
        population: where pairs go; None when no file is written.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        waiver_of: WaiverMatch,
        places: PlaceFinder,
        findings: FindingStore,
        population: PopulationWriter | None,
    ) -> None:
        self.tally = Tally()
        self.objects = 0
        """Declared objects that were judged: fewer than were read, when the run was stopped."""
        self.pairs_due = 0
        self.pairs_answered = 0
        self.errors_of_their_own = 0
        """Error pairs that no gap and no missing manifest explains: an engine failed, a document is ambiguous."""
        self._rules = rules
        self._waiver_of = waiver_of
        self._places = places
        self._findings = findings
        self._population = population
        self._pending: list[_Pending] = []
        self._caveats: Counter[str] = Counter()

    def notices(self) -> tuple[Notice, ...]:
        """How many answers carry which caveat, passes included: findings alone would not show those."""
        return tuple(
            Notice(
                source="caveats",
                code=code,
                message=f"{number} answers carry the caveat {code}: inside a cluster they could differ",
                count=number,
            )
            for code, number in sorted(self._caveats.items())
        )

    def book(self, item: CollectedObject, answers: list[PairAnswer], due: int) -> None:
        """Book all pairs of one object."""
        ref = item.ref
        self.objects += not ref.derived
        self.pairs_due += due
        self.pairs_answered += len(answers)
        booked: list[tuple[PairAnswer, str]] = []
        worth_showing: list[tuple[PairAnswer, str]] = []
        tally = self.tally
        for answer in answers:
            waiver = ""
            outcome = answer.outcome
            if outcome is Outcome.FAIL:
                waiver = self._waiver_of(answer.rule, ref, answer.violations) or answer.accepted_by
            tally.add(answer.rule, ref.cluster, outcome, waived=bool(waiver))
            tally.add_due(answer.rule, ref.cluster)
            if outcome is Outcome.ERROR and answer.reason not in _EXPLAINED:
                self.errors_of_their_own += 1
            if answer.caveats:
                self._caveats.update(answer.caveats)
            entry = (answer, waiver)
            booked.append(entry)
            if outcome is not Outcome.PASS and outcome is not Outcome.SKIP:
                worth_showing.append(entry)
        if self._population is not None:
            self._population.add(ref, booked)
        if worth_showing:
            waiting = len(self._pending)
            next_file = waiting and self._pending[-1].ref.source != ref.source
            if (next_file and waiting >= _PENDING_OBJECTS) or waiting >= 10 * _PENDING_OBJECTS:
                self.flush()
            self._pending.append(_Pending(ref, worth_showing))

    def flush(self) -> None:
        """Resolve the positions of what is pending and keep the findings."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        asked = [
            (entry.ref, [v.path for answer, _ in entry.answers for v in answer.violations])
            for entry in pending
        ]
        for entry, places in zip(pending, self._places.places(asked), strict=True):
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
