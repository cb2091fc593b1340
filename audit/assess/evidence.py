"""The tally, turned once into what each rule contributed on each cluster."""

from __future__ import annotations

from audit.model.assessment import RuleEvidence
from audit.model.finding import Outcome
from audit.model.tally import Tally

_SLOTS = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.WARN: 3, Outcome.ERROR: 4, Outcome.SKIP: 5}
_WAIVED = 2
_NOTHING = (0, 0, 0, 0, 0, 0)


class EvidenceIndex:
    """Evidence by rule and cluster. Equal pieces are shared: many controls rest on the same rule."""

    def __init__(self, tally: Tally) -> None:
        counts: dict[tuple[str, str], list[int]] = {}
        for (rule, cluster, outcome, waived), number in tally.counts.items():
            slots = counts.setdefault((rule, cluster), [0] * 6)
            slots[_WAIVED if waived and outcome is Outcome.FAIL else _SLOTS[outcome]] += number
        self._counts = counts
        self._due = tally.due
        self._asked = frozenset(rule for (rule, _), number in tally.due.items() if number)
        self._made: dict[tuple[str, str, bool], RuleEvidence] = {}

    def of(self, rule: str, cluster: str, *, decides: bool) -> RuleEvidence:
        """What `rule` contributed on `cluster`; due pairs without an answer count as errors."""
        key = (rule, cluster, decides)
        made = self._made.get(key)
        if made is None:
            passed, failed, waived, warned, errors, skipped = self._counts.get((rule, cluster), _NOTHING)
            due = self._due.get((rule, cluster), 0)
            answered = passed + failed + waived + warned + errors + skipped
            made = self._made[key] = RuleEvidence(
                rule=rule,
                decides=decides,
                due=due,
                passed=passed,
                failed=failed,
                waived=waived,
                warned=warned,
                errors=errors + max(0, due - answered),
                skipped=skipped,
            )
        return made

    def due_anywhere(self, rule: str) -> bool:
        """Whether any member has a subject for the rule."""
        return rule in self._asked

    def missing(self, rule: str, cluster: str) -> int:
        """Due pairs that got no answer at all."""
        return max(0, self._due.get((rule, cluster), 0) - sum(self._counts.get((rule, cluster), _NOTHING)))


def summed(parts: list[RuleEvidence]) -> RuleEvidence:
    """Evidence of one rule over several members. The list is not empty."""
    first = parts[0]
    return RuleEvidence(
        rule=first.rule,
        decides=first.decides,
        due=sum(part.due for part in parts),
        passed=sum(part.passed for part in parts),
        failed=sum(part.failed for part in parts),
        waived=sum(part.waived for part in parts),
        warned=sum(part.warned for part in parts),
        errors=sum(part.errors for part in parts),
        skipped=sum(part.skipped for part in parts),
    )
