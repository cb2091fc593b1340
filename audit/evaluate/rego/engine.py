"""Rego rules, answered by the embedded OPA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audit.model.finding import Outcome, Violation
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.model.subject import derived_key
from audit.native.evaluator import Evaluator, NativeAnswer
from audit.ports import CollectedObject, PairAnswer


class RegoEngine:
    """An `Engine` over a native evaluator that has the rules loaded.

    Args:
        evaluator: started and loaded; closed with the engine.
        rules: the selected rules, in the order of answers.
        version: what is inside.
    """

    def __init__(self, evaluator: Evaluator, rules: tuple[Rule, ...], version: EngineVersion) -> None:
        self._evaluator = evaluator
        self._rules = rules
        self._version = version
        # Most answers carry nothing but rule and outcome: build each of those once.
        self._plain: dict[tuple[str, str, str], PairAnswer] = {}

    def version(self) -> EngineVersion:
        """OPA's own version, and the digest of the binary that ran."""
        return self._version

    def rules(self) -> tuple[Rule, ...]:
        """The selected Rego rules."""
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order."""
        del cluster
        self._evaluator.set_inventory(inventory)
        # Derived subjects must not be asked rules that are not meant for them.
        asked = (
            (derived_key(item.ref.kind_key) if item.ref.derived else item.ref.kind_key, item.raw)
            for item in objects
        )
        for answers in self._evaluator.evaluate(asked):
            yield [self._answer(answer) for answer in answers]

    def close(self) -> None:
        """Stop the child."""
        self._evaluator.close()

    def _answer(self, answer: NativeAnswer) -> PairAnswer:
        if answer.violations or answer.message:
            return PairAnswer(
                rule=answer.rule,
                outcome=Outcome(answer.outcome),
                violations=tuple(
                    Violation(
                        path=tuple(v.path),
                        message=v.message,
                        container=v.container,
                        seen=v.seen,
                        expected=v.expected,
                    )
                    for v in answer.violations
                ),
                reason=answer.reason,
                message=answer.message,
            )
        key = (answer.rule, answer.outcome, answer.reason)
        plain = self._plain.get(key)
        if plain is None:
            plain = PairAnswer(rule=answer.rule, outcome=Outcome(answer.outcome), reason=answer.reason)
            self._plain[key] = plain
        return plain
