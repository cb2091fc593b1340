"""Counts of pairs. Merging is addition, so shards and machines combine in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from audit.model.finding import Outcome


class TallyKey(NamedTuple):
    """What one count is about."""

    rule: str
    cluster: str
    outcome: Outcome
    waived: bool


class Tally:
    """Counts of pairs by (rule, cluster, outcome, waived), and of pairs that were due by (rule, cluster)."""

    def __init__(self) -> None:
        self.counts: dict[TallyKey, int] = {}
        self.due: dict[tuple[str, str], int] = {}

    def add(
        self, rule: str, cluster: str, outcome: Outcome, *, waived: bool = False, number: int = 1
    ) -> None:
        """Count `number` answered pairs."""
        key = TallyKey(rule, cluster, outcome, waived)
        self.counts[key] = self.counts.get(key, 0) + number

    def add_due(self, rule: str, cluster: str, number: int = 1) -> None:
        """Count pairs that were due, before anything was asked."""
        self.due[rule, cluster] = self.due.get((rule, cluster), 0) + number

    def merge(self, other: Tally) -> None:
        """Add another tally's counts to this one."""
        for key, number in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + number
        for pair, number in other.due.items():
            self.due[pair] = self.due.get(pair, 0) + number

    def of(self, rule: str, cluster: str) -> RuleCounts:
        """Counts of one rule on one cluster."""
        return RuleCounts(
            due=self.due.get((rule, cluster), 0),
            passed=self._get(rule, cluster, Outcome.PASS),
            failed=self._get(rule, cluster, Outcome.FAIL),
            waived=self.counts.get(TallyKey(rule, cluster, Outcome.FAIL, waived=True), 0),
            warned=self._get(rule, cluster, Outcome.WARN),
            errors=self._get(rule, cluster, Outcome.ERROR),
            skipped=self._get(rule, cluster, Outcome.SKIP),
        )

    def _get(self, rule: str, cluster: str, outcome: Outcome) -> int:
        return self.counts.get(TallyKey(rule, cluster, outcome, waived=False), 0)

    def total(self, outcome: Outcome, *, waived: bool | None = None) -> int:
        """Pairs with an outcome over all rules and clusters; `waived` narrows to waived or unwaived ones."""
        return sum(
            n for key, n in self.counts.items() if key.outcome is outcome and waived in (None, key.waived)
        )

    def to_rows(self) -> list[tuple[str, str, str, bool, int]]:
        """Sorted (rule, cluster, outcome, waived, count) rows, for the JSON report."""
        return sorted((k.rule, k.cluster, k.outcome.value, k.waived, n) for k, n in self.counts.items())

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[str, str, str, bool, int]], due: Mapping[tuple[str, str], int]
    ) -> Tally:
        """Inverse of `to_rows`."""
        tally = cls()
        for rule, cluster, outcome, waived, number in rows:
            tally.add(rule, cluster, Outcome(outcome), waived=waived, number=number)
        tally.due = dict(due)
        return tally


class RuleCounts(NamedTuple):
    """Counts of one rule on one cluster. `failed` counts unwaived failures only."""

    due: int
    passed: int
    failed: int
    waived: int
    warned: int
    errors: int
    skipped: int

    @property
    def answered(self) -> int:
        """Pairs with any outcome."""
        return self.passed + self.failed + self.waived + self.warned + self.errors + self.skipped

    @property
    def missing(self) -> int:
        """Due pairs that got no answer at all; anything above zero is an error."""
        return max(0, self.due - self.answered)
