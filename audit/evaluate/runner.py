"""Rules x objects to answers: every pair that is due is answered, and a missing answer is an error, never a pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from audit.evaluate.components import NO_PROFILES, ComponentProfiles
from audit.evaluate.owned import Told
from audit.evaluate.twins import NO_TWINS, TwinPairs
from audit.model.finding import CONTEXT_INCOMPLETE, MANIFEST_NOT_COLLECTED, Outcome, PairAnswer, render_path
from audit.model.gap import Gap
from audit.model.rule import Rule
from audit.ports import CollectedObject, Engine, MemberContext

AMBIGUOUS_DOCUMENT = "ambiguous_document"
MALFORMED_DOCUMENT = "malformed_document"
MISSING_ANSWER = "missing_answer"
READER = "reader"
NAMESPACE = "Namespace"


class Doubts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known, before asking, to make some answers worth less."""

    incomplete_context: frozenset[str] = frozenset()
    """Rules whose context kinds may be hidden behind a gap on this cluster: their answers become errors."""
    textual: frozenset[str] = frozenset()
    """Rules about the text of a document, which answer whatever its shape."""
    owned_kinds: frozenset[str] = frozenset()
    """Kinds with pod templates: what such an object made for itself repeats its failures, which are told once."""


def doubts_about(
    rules: Sequence[Rule], gaps: Sequence[Gap], context: MemberContext, owned_kinds: frozenset[str]
) -> Doubts:
    """Doubts on one cluster: context rules are doubtful where a gap may hide an object they must see."""
    incomplete = frozenset(
        rule.id
        for rule in rules
        if rule.context and (context.overflowed or any(gap.may_hide(rule.context_kinds) for gap in gaps))
    )
    textual = frozenset(rule.id for rule in rules if rule.engine == READER)
    return Doubts(incomplete_context=incomplete, textual=textual, owned_kinds=owned_kinds)


class Judged(msgspec.Struct, frozen=True):
    """One object and the answers of all its due pairs."""

    object: CollectedObject
    answers: list[PairAnswer]
    due: int


class DuePairs:
    """Which rules are due for an object: counted before anything is asked, compared afterwards.

    A namespace that is used but has no manifest is due for every rule that names namespaces. Rules that look at other
    objects judge it as any other. Labels and whatever else is its own nobody has seen, so that such pairs are
    undecided: else a failure could be mended by leaving the manifest out.

    Args:
        rules: of one engine.
        folded: rules that only take part in another rule's pair; of a namespace without a manifest that rule answers.
    """

    def __init__(self, rules: Iterable[Rule], *, folded: Collection[str] = ()) -> None:
        self._rules = tuple(rules)
        self._by_kind: dict[tuple[str, bool], tuple[str, ...]] = {}
        self._folded = frozenset(folded)
        self._asked = frozenset(rule.id for rule in self._rules if rule.match_derived)
        self._sees_others = frozenset(rule.id for rule in self._rules if rule.match_derived and rule.context)

    def of(self, item: CollectedObject) -> tuple[str, ...]:
        """Ids of the rules due for it, in rule order."""
        key = (item.ref.kind_key, item.ref.derived)
        due = self._by_kind.get(key)
        if due is None:
            due = tuple(
                rule.id
                for rule in self._rules
                if rule.matches(key[0])
                and (
                    not item.ref.derived
                    or rule.match_derived
                    or (key[0] == NAMESPACE and NAMESPACE in rule.kinds and rule.id not in self._folded)
                )
            )
            self._by_kind[key] = due
        return due

    def settle(self, item: CollectedObject, answers: list[PairAnswer]) -> list[PairAnswer]:
        """Exactly one answer per due pair, undecided where it would rest on a manifest that is not there."""
        ref = item.ref
        settled = complete(self.of(item), answers)
        if not ref.derived or ref.kind_key != NAMESPACE:
            return settled
        message = (
            f"namespace {ref.name} is used, but its manifest is not among the inputs: its labels are unknown"
        )
        return [
            PairAnswer(rule=a.rule, outcome=Outcome.ERROR, reason=MANIFEST_NOT_COLLECTED, message=message)
            if a.rule not in self._asked
            or (a.rule not in self._sees_others and a.outcome not in (Outcome.SKIP, Outcome.ERROR))
            else a
            for a in settled
        ]


def judge(
    cluster: str,
    objects: Iterable[CollectedObject],
    engines: Sequence[Engine],
    *,
    inventory: bytes,
    doubts: Doubts,
    twins: TwinPairs = NO_TWINS,
    components: ComponentProfiles = NO_PROFILES,
) -> Iterator[Judged]:
    """Ask all engines about the objects of one cluster, in order, streaming.

    `objects` can be gone through several times at once: each engine looks ahead at its own pace, and none makes the
    others' objects wait in memory.
    """
    due_of = [DuePairs(engine.rules(), folded=twins.rule_of) for engine in engines]
    answered = [engine.evaluate(cluster, iter(objects), inventory) for engine in engines]
    told = Told(doubts.owned_kinds)
    for item in objects:
        answers: list[PairAnswer] = []
        asked: tuple[str, ...] = ()
        for due_pairs, stream in zip(due_of, answered, strict=True):
            due = due_pairs.of(item)
            asked += due
            answers += due_pairs.settle(item, next(stream, []))
        # Profiles first: a pass that rests on one is as doubtful as any other.
        needed = components.settle(item, answers, twins.rule_of)
        pairs = twins.fold(item.ref, apply_doubts(item, needed, doubts))
        yield Judged(item, told.once(item, pairs), twins.due(asked))


def complete(due: tuple[str, ...], answers: list[PairAnswer]) -> list[PairAnswer]:
    """The answers in due order: exactly one per due pair.

    An absent answer becomes an error; two answers for one pair keep the worse; an answer nobody asked for
    is dropped, because it can't be part of a counted denominator.
    """
    if len(answers) == len(due) and all(a.rule == rule for a, rule in zip(answers, due, strict=True)):
        return answers
    by_rule: dict[str, PairAnswer] = {}
    for answer in answers:
        other = by_rule.get(answer.rule)
        if other is None or _WORST.index(answer.outcome) < _WORST.index(other.outcome):
            by_rule[answer.rule] = answer
    return [
        by_rule.get(rule)
        or PairAnswer(
            rule=rule, outcome=Outcome.ERROR, reason=MISSING_ANSWER, message="the engine gave no answer"
        )
        for rule in due
    ]


_WORST = (Outcome.FAIL, Outcome.ERROR, Outcome.WARN, Outcome.PASS, Outcome.SKIP)


def apply_doubts(item: CollectedObject, answers: list[PairAnswer], doubts: Doubts) -> list[PairAnswer]:
    """Weaken answers that rest on doubtful ground; a fail stands whatever the doubt."""
    if item.duplicates:
        answers = [_ambiguous(a) if a.outcome is Outcome.PASS else a for a in answers]
    if item.faults:
        answers = _malformed(answers, item, doubts.textual)
    if doubts.incomplete_context:
        answers = [
            PairAnswer(
                rule=a.rule,
                outcome=Outcome.ERROR,
                reason=CONTEXT_INCOMPLETE,
                message="objects this rule must see are behind a gap",
            )
            if a.rule in doubts.incomplete_context and a.outcome is not Outcome.SKIP
            else a
            for a in answers
        ]
    return answers


def _malformed(answers: list[PairAnswer], item: CollectedObject, textual: frozenset[str]) -> list[PairAnswer]:
    """Passes, and rules that found nothing to ask about, of an object whose pods nobody can read."""
    first = item.faults[0]
    more = f", and {len(item.faults) - 1} more" if len(item.faults) > 1 else ""
    message = f"{render_path(first.path)} holds {first.found}, not {first.expected}{more}"
    return [
        PairAnswer(rule=a.rule, outcome=Outcome.ERROR, reason=MALFORMED_DOCUMENT, message=message)
        if a.outcome in (Outcome.PASS, Outcome.SKIP) and a.rule not in textual
        else a
        for a in answers
    ]


def _ambiguous(answer: PairAnswer) -> PairAnswer:
    return PairAnswer(
        rule=answer.rule,
        outcome=Outcome.ERROR,
        reason=AMBIGUOUS_DOCUMENT,
        message="passes on the last of two values of a duplicate key; readers may see the first",
    )
