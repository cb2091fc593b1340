"""Rules about the document itself, which no policy language can see: answered from the reader's own facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.rule import Rule, Severity
from audit.model.run import EngineVersion
from audit.ports import CollectedObject

DUPLICATE_KEY = Rule(
    id="manifest/duplicate-key",
    engine="reader",
    title="A mapping names each key once",
    description=(
        "The same key stands twice in one mapping. Kubernetes keeps the last value, other readers the first, "
        "so what a reviewer saw and what runs may differ. An object with duplicate keys is judged on its last "
        "value: its failures stand and its passes become errors."
    ),
    severity=Severity.HIGH,
    remediation="Remove one of the two, and check which value you meant.",
    references=(
        "https://kubernetes.io/docs/reference/using-api/api-concepts/#setting-the-field-validation-level",
    ),
    digest=hashlib.sha256(b"manifest/duplicate-key 1").hexdigest(),
)


class ReaderEngine:
    """An `Engine` over what the reader noticed.

    Args:
        version: fleetaudit's own version; these rules are part of it.
        selected: ids of the rules to ask.
    """

    def __init__(self, version: str, selected: frozenset[str]) -> None:
        self._version = version
        self._rules = tuple(rule for rule in (DUPLICATE_KEY,) if rule.id in selected)

    def version(self) -> EngineVersion:
        """Moves with fleetaudit."""
        return EngineVersion(name="reader", version=self._version)

    def rules(self) -> tuple[Rule, ...]:
        """At most the one rule there is."""
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object; derived subjects have no document and get none."""
        del cluster, inventory
        passed = [PairAnswer(rule=rule.id, outcome=Outcome.PASS) for rule in self._rules]
        for item in objects:
            if item.ref.derived:
                yield []
            elif item.duplicates and self._rules:
                yield [PairAnswer(rule=DUPLICATE_KEY.id, outcome=Outcome.FAIL, violations=_violations(item))]
            else:
                yield passed

    def close(self) -> None:
        """Nothing is running."""


def _violations(item: CollectedObject) -> tuple[Violation, ...]:
    return tuple(
        Violation(
            path=duplicate.path,
            message=f"key {duplicate.key} stands on lines {', '.join(map(str, duplicate.lines))}",
            seen=f"{len(duplicate.lines)} values",
            expected="one value",
        )
        for duplicate in item.duplicates
    )
