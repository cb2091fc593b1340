"""Trying policies on samples: what a true `allow` means, which exclusion never holds, which neighbours are not seen."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import msgspec

from audit.library.foreign.fields import misplaced
from audit.library.foreign.module import Graph
from audit.library.foreign.plain import ALLOWS
from audit.library.foreign.samples import SUBJECTS, Object, Sample, binding, key_of, samples, workloads_of
from audit.library.foreign.settle import Wanted
from audit.model.finding import Outcome, PairAnswer
from audit.model.foreign import Shape
from audit.model.gap import Notice
from audit.native.evaluator import Evaluator

POLARITY_INVERTED = "allow_means_violation"
POLARITY_UNCONFIRMED = "allow_unconfirmed"
FIELD_NOWHERE = "field_of_no_object"
SUBJECTS_UNSEEN = "subjects_not_covered"
KINDS_UNSEEN = "kinds_not_covered"
NOT_TRIED = "not_tried"
_TRIED = (Shape.ADMISSION, Shape.CONFTEST)
_SLOW = frozenset({"timeout", "memory", "engine_failed"})
_BINDINGS = frozenset({"RoleBinding", "ClusterRoleBinding"})


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What trying found."""

    inverted: frozenset[str]
    """Rules whose ``allow`` is true for the violation."""
    notices: tuple[Notice, ...]


def probe(
    evaluator: Evaluator, wanted: Sequence[Wanted], graph: Graph, shape: Shape, *, decided: bool
) -> Probed:
    """Try all rules of a loaded program.

    Args:
        evaluator: has the program loaded, its rules in the order of `wanted`.
        wanted: the rules.
        graph: of the program's modules.
        shape: of the program.
        decided: the configuration says what a true ``allow`` means.
    """
    return _Probe(evaluator, wanted, graph, shape, decided=decided).run()


class _Probe:
    def __init__(
        self, evaluator: Evaluator, wanted: Sequence[Wanted], graph: Graph, shape: Shape, *, decided: bool
    ) -> None:
        self._evaluator = evaluator
        self._wanted = wanted
        self._graph = graph
        self._shape = shape
        self._decided = decided
        self._inverted: set[str] = set()
        self._notices: list[Notice] = []

    def run(self) -> Probed:
        tried: list[Sample] = []
        answered: list[list[PairAnswer]] = []
        if self._shape in _TRIED:
            tried = samples({word for one in self._wanted for word in self._words(one)})
            answered = self._all([sample.value for sample in tried])
            if len(answered) < len(tried):
                self._too_slow()
                tried, answered = [], []
        for place, one in enumerate(self._wanted):
            flagged: list[Object] = []
            if tried and not one.ask.rule.match_derived:
                flagged = self._against(one, tried, [answers[place].outcome for answers in answered])
            self._fields(place, one, flagged)
            if flagged:
                self._neighbours(place, one, flagged)
        return Probed(inverted=frozenset(self._inverted), notices=tuple(self._notices))

    def _against(self, one: Wanted, tried: Sequence[Sample], answers: Sequence[Outcome]) -> list[Object]:
        """Samples the rule is against, once it is known what it means."""
        against = Outcome.FAIL
        if ALLOWS.match(one.roots[0][1]) and not self._decided:
            against = self._polarity(one, tried, answers)
        return [s.value for s, a in zip(tried, answers, strict=True) if a in (against, _warned(against))]

    def _all(self, values: Sequence[Object]) -> list[list[PairAnswer]]:
        """Answers of every rule; cut short when a policy takes so long that trying it would hold up everything."""
        answered: list[list[PairAnswer]] = []
        for start, end in ((0, 2), (2, 10), (10, len(values))):
            encoded = [(key_of(value), msgspec.json.encode(value)) for value in values[start:end]]
            part = list(self._evaluator.evaluate(encoded))
            if any(answer.reason in _SLOW for answers in part for answer in answers):
                return answered
            answered += part
        return answered

    def _too_slow(self) -> None:
        self._notices.append(
            Notice(
                source=self._wanted[0].ask.rule.file,
                code=NOT_TRIED,
                message="not tried on samples: a policy takes too long",
            )
        )

    def _polarity(self, one: Wanted, tried: Sequence[Sample], answers: Sequence[Outcome]) -> Outcome:
        """The outcome (of the adapter that takes true for permission) that means a violation."""
        sound = sum(1 for s, a in zip(tried, answers, strict=True) if s.sound and a is Outcome.PASS)
        faulty = sum(1 for s, a in zip(tried, answers, strict=True) if not s.sound and a is Outcome.PASS)
        if faulty and not sound:
            self._inverted.add(one.ask.rule.id)
            self._note(
                one,
                POLARITY_INVERTED,
                f"{one.roots[0][1]} is true for faulty samples ({faulty}) and for no sound one, so true is taken "
                "for the violation; an API server that asked it would let exactly these in",
            )
            return Outcome.PASS
        if not sound and not faulty:
            self._note(
                one,
                POLARITY_UNCONFIRMED,
                f"{one.roots[0][1]} was true for none of {len(tried)} sample objects: true is taken for permission",
            )
        return Outcome.FAIL

    def _fields(self, place: int, one: Wanted, flagged: Sequence[Object]) -> None:
        for root in one.roots:
            for found in misplaced(self._graph, root, self._shape):
                message = (
                    f"{one.ask.rule.id}: reads {found.field} at the root of objects, where no object has it: "
                    f"{found.advice}"
                )
                if found.field == "namespace":
                    message += self._broken_exclusions(place, one, flagged, found.compared)
                self._notices.append(
                    Notice(source=found.file, code=FIELD_NOWHERE, message=message, line=found.line)
                )

    def _broken_exclusions(
        self, place: int, one: Wanted, flagged: Sequence[Object], names: Sequence[str]
    ) -> str:
        """Namespaces the policy names that make no difference."""
        base = next((value for value in flagged if "namespace" in value["metadata"]), None)
        if base is None:
            return ""
        moved = []
        for name in names:
            value = copy.deepcopy(base)
            value["metadata"]["namespace"] = name
            moved.append(value)
        same = self._same_as(place, one, moved)
        still = [name for name, hit in zip(names, same, strict=True) if hit]
        return f"; its condition on namespace {', '.join(still)} never holds" if still else ""

    def _neighbours(self, place: int, one: Wanted, flagged: Sequence[Object]) -> None:
        bindings = [value for value in flagged if value["kind"] in _BINDINGS]
        if bindings:
            self._bindings(place, one, bindings)
        pods = [value for value in flagged if value["kind"] == "Pod"]
        if pods:
            unseen = None
            for pod in pods:
                inside = list(workloads_of(pod))
                same = self._same_as(place, one, inside)
                missed = {value["kind"] for value, hit in zip(inside, same, strict=True) if not hit}
                unseen = missed if unseen is None else unseen & missed
            if unseen:
                self._note(
                    one,
                    KINDS_UNSEEN,
                    f"sees Pods and not the pods that {', '.join(sorted(unseen))} make",
                )

    def _bindings(self, place: int, one: Wanted, flagged: Sequence[Object]) -> None:
        first = flagged[0]
        role = first["roleRef"]["name"]
        kinds = {value["kind"] for value in flagged if value["roleRef"]["name"] == role}
        seen = {s["kind"] for v in flagged if v["roleRef"]["name"] == role for s in v["subjects"]}
        tried = [binding(kind, role, subject) for kind in sorted(kinds) for subject in SUBJECTS]
        same = self._same_as(place, one, tried)
        covered = {v["subjects"][0]["kind"] for v, hit in zip(tried, same, strict=True) if hit} | seen
        missing = [subject for subject in SUBJECTS if subject not in covered]
        if missing:
            self._note(
                one,
                SUBJECTS_UNSEEN,
                f"sees subjects of kind {', '.join(sorted(covered))} and lets {', '.join(missing)} "
                f"have the role {role}",
            )
        unseen = sorted(_BINDINGS - kinds)
        if unseen:
            self._note(
                one, KINDS_UNSEEN, f"sees {', '.join(sorted(kinds))} to {role} and not {', '.join(unseen)}"
            )

    def _same_as(self, place: int, one: Wanted, values: Sequence[Object]) -> list[bool]:
        """For each object, whether the rule is against it."""
        against = Outcome.PASS if one.ask.rule.id in self._inverted else Outcome.FAIL
        answers = self._ask(place, values)
        if len(answers) < len(values):
            return [True] * len(values)  # nothing is said of what could not be tried
        return [answer in (against, _warned(against)) for answer in answers]

    def _ask(self, place: int, values: Sequence[Object]) -> list[Outcome]:
        return [answers[place].outcome for answers in self._all(values)]

    def _words(self, one: Wanted) -> list[str]:
        words = {
            text
            for root in one.roots
            for statements in self._graph.reachable(root).values()
            for _, statement in statements
            for text in statement.strings
        }
        return sorted(words)

    def _note(self, one: Wanted, code: str, message: str) -> None:
        rule = one.ask.rule
        self._notices.append(
            Notice(source=rule.file, code=code, message=f"{rule.id}: {message}", line=rule.line)
        )


def _warned(outcome: Outcome) -> Outcome:
    """What a rule that only warns says instead."""
    return Outcome.WARN if outcome is Outcome.FAIL else outcome
