"""Twins folded into one pair: worst outcome, both answers kept, never a lighter denominator or a better one.

The rule that counts keeps its pair. Its answer is replaced only by a worse one, so that another engine's opinion can
take a pass away and never give one: a twin's pass does not mend an error, and does not make a skip a pass either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from audit.model.finding import Outcome, PairAnswer, Said
from audit.model.gap import Notice
from audit.model.subject import SubjectRef
from audit.model.twin import Twin, TwinCount

TWINS_DIFFER = "twins_differ"
_EXAMPLES = 5
_FAILS = (Outcome.FAIL, Outcome.WARN)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two sides about one object."""

    twin: Twin
    answers: tuple[PairAnswer, ...]
    """The counting rule's first."""

    @property
    def judged(self) -> bool:
        """No side had an error."""
        return all(answer.outcome is not Outcome.ERROR for answer in self.answers)

    @property
    def differs(self) -> bool:
        """One side finds a failure, the other none. Passing and not applying are no difference: both find nothing."""
        first, *others = self.answers
        failing = first.outcome in _FAILS
        return self.judged and failing != any(other.outcome in _FAILS for other in others)


class TwinPairs:
    """Folds the answers about one object after the other, and counts where the sides differ.

    Args:
        twins: declared ones.
        asked: ids of all rules that are asked in this run. A question of which a part is not asked is not folded.
    """

    def __init__(self, twins: Iterable[Twin], asked: Collection[str]) -> None:
        known = frozenset(asked)
        self._twins = tuple(t for t in twins if t.rule in known and known.issuperset(t.others))
        self.rule_of = {other: twin.rule for twin in self._twins for other in twin.others}
        """Folded rule to the rule whose pair it is part of."""
        self._by_rule: dict[str, list[Twin]] = {}
        for twin in self._twins:
            self._by_rule.setdefault(twin.rule, []).append(twin)
        self._counts = {twin: _Count() for twin in self._twins}
        self.tell: Callable[[SubjectRef, Comparison], None] | None = None
        """Told of every object that the sides differ on, or that one of them could not judge."""

    def due(self, rules: Collection[str]) -> int:
        """How many pairs these rules make on one object: twins of a rule that is due itself make none of their own."""
        return sum(self.rule_of.get(rule) not in rules for rule in rules)

    def compare(self, answers: Sequence[PairAnswer]) -> list[Comparison]:
        """Both sides of every twin that was asked on both sides."""
        by_rule = {answer.rule: answer for answer in answers}
        return [
            Comparison(twin=twin, answers=(by_rule[twin.rule], *others))
            for twin in self._twins
            if twin.rule in by_rule and (others := [by_rule[o] for o in twin.others if o in by_rule])
        ]

    def fold(self, ref: SubjectRef, answers: list[PairAnswer]) -> list[PairAnswer]:
        """One answer per pair, in the order given."""
        if not self._twins:
            return answers
        compared = self.compare(answers)
        if not compared:
            return answers
        together: dict[str, list[PairAnswer]] = {}
        for comparison in compared:
            self._counts[comparison.twin].add(comparison, ref)
            if self.tell is not None and (comparison.differs or not comparison.judged):
                self.tell(ref, comparison)
            together.setdefault(comparison.twin.rule, []).extend(comparison.answers[1:])
        folded = {other.rule for others in together.values() for other in others}
        return [
            _folded(answer, together[answer.rule]) if answer.rule in together else answer
            for answer in answers
            if answer.rule not in folded
        ]

    def counts(self) -> tuple[TwinCount, ...]:
        """What was compared so far."""
        return tuple(count.of(twin) for twin, count in self._counts.items())

    def notices(self) -> tuple[Notice, ...]:
        """One for each pair of twins that differ somewhere."""
        return tuple(
            Notice(
                source=count.twin.file,
                code=TWINS_DIFFER,
                message=_told(count),
                line=count.twin.line,
                count=count.differing,
            )
            for count in self.counts()
            if count.differing
        )


NO_TWINS = TwinPairs((), ())


class _Count:
    """Mutable side of a `TwinCount`."""

    def __init__(self) -> None:
        self.compared = 0
        self.differing = 0
        self.unjudged = 0
        self.examples: list[str] = []

    def add(self, comparison: Comparison, ref: SubjectRef) -> None:
        if not comparison.judged:
            self.unjudged += 1
            return
        self.compared += 1
        if comparison.differs:
            self.differing += 1
            if len(self.examples) < _EXAMPLES:
                self.examples.append(ref.title)

    def of(self, twin: Twin) -> TwinCount:
        return TwinCount(
            twin=twin,
            compared=self.compared,
            differing=self.differing,
            unjudged=self.unjudged,
            examples=tuple(self.examples),
        )


def _told(count: TwinCount) -> str:
    more = (
        f" and {count.differing - len(count.examples)} more" if count.differing > len(count.examples) else ""
    )
    return (
        f"{count.twin.title} differ on {count.differing} of {count.compared} objects: "
        f"{', '.join(count.examples)}{more}; the worse answer counts"
    )


def _rank(answer: PairAnswer) -> int:
    """Worst first. An accepted failure can be mended by nobody's error, so an error is the worse of the two."""
    if answer.outcome is Outcome.FAIL:
        return 2 if answer.accepted_by else 0
    return {Outcome.ERROR: 1, Outcome.WARN: 3}.get(answer.outcome, 4)


def _folded(answer: PairAnswer, others: Sequence[PairAnswer]) -> PairAnswer:
    worst = min((answer, *others), key=_rank)
    said = tuple(_said(one) for one in (answer, *others))
    if _rank(worst) == _rank(answer):
        worst = answer
    return msgspec.structs.replace(worst, rule=answer.rule, said=said)


def _said(answer: PairAnswer) -> Said:
    text = answer.violations[0].message if answer.violations else answer.message or answer.reason
    return Said(rule=answer.rule, outcome=answer.outcome, text=text, accepted_by=answer.accepted_by)
