"""Where answers become what is kept: the tally, the population file and the findings. Waivers are applied here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from audit.model.finding import (
    CONTEXT_INCOMPLETE,
    MANIFEST_NOT_COLLECTED,
    Outcome,
    PairAnswer,
    Violation,
)
from audit.model.gap import Notice
from audit.model.subject import SubjectRef
from audit.model.tally import Tally
from audit.ports import CollectedObject
from audit.record.keeping import Answered, FindingKeeper
from audit.record.population import PopulationWriter

WaiverMatch = Callable[[str, SubjectRef, tuple[Violation, ...]], str | None]
"""(rule, subject, violations) to the id of the live waiver that accepts all of them."""

_EXPLAINED = frozenset({CONTEXT_INCOMPLETE, MANIFEST_NOT_COLLECTED})


class Ledger:
    """Books every pair exactly once.

    Args:
        waiver_of: finds the live waiver of a failed pair.
        keeper: where the findings of failed, warned and undecided pairs go.
        population: where pairs go; None when no file is written.
    """

    def __init__(
        self,
        waiver_of: WaiverMatch,
        keeper: FindingKeeper,
        population: PopulationWriter | None,
    ) -> None:
        self.tally = Tally()
        self.objects = 0
        """Declared objects that were judged: fewer than were read, when the run was stopped."""
        self.pairs_due = 0
        self.pairs_answered = 0
        self.errors_of_their_own = 0
        """Error pairs that no gap and no missing manifest explains: an engine failed, a document is ambiguous."""
        self._waiver_of = waiver_of
        self._keeper = keeper
        self._population = population
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
            self._keeper.add(Answered(ref, worth_showing))

    def settle(self) -> None:
        """Wait until everything that was booked is kept."""
        self._keeper.settle()
