"""Failures that people accepted by a PolicyException. The true outcome stays; the acceptance is written beside it.

The first run knows no exception, so every outcome is the true one. Failed pairs that a live exception may concern are
judged again with it, and the CLI says which it spares. An exception past its end is never handed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from audit.evaluate.kyverno.labels import wildcard
from audit.evaluate.kyverno.report_stream import Row
from audit.evaluate.kyverno.run import RunRequest, Runs
from audit.evaluate.kyverno.settle import Settler
from audit.evaluate.kyverno.subjects import Subject, layers
from audit.model.finding import Outcome, PairAnswer
from audit.model.kyverno import KyvernoPolicy, KyvernoRule, PolicyException, PolicyFamily

_FAILED = (Outcome.FAIL, Outcome.WARN)
_SPARED = ("skip", "pass")


class AcceptedFailures:
    """Applies live exceptions to the answers of one shard after the other.

    Args:
        runs: starts what judges.
        exceptions: live ones only.
    """

    def __init__(self, runs: Runs, exceptions: Sequence[PolicyException]) -> None:
        self.used: Counter[str] = Counter()
        """Pairs each exception accepted, by id."""
        self._runs = runs
        self._exceptions = exceptions

    def apply(
        self, template: RunRequest, answers: dict[int, list[PairAnswer]], subjects: Sequence[Subject]
    ) -> None:
        """Write `accepted_by` into the answers (by `id` of the subject, in due order) of one family."""
        concerned: dict[str, KyvernoPolicy] = {}
        failed: list[Subject] = []
        for subject in subjects:
            hit = {
                policy.key: policy
                for (policy, rule), answer in zip(subject.due, answers[id(subject)], strict=True)
                if policy.family is template.family
                and answer.outcome in _FAILED
                and self._concerning(policy, rule)
            }
            concerned |= hit
            if hit:
                failed.append(subject)
        if not failed:
            return
        cel = template.family is PolicyFamily.VALIDATING
        given = [exception for exception in self._exceptions if exception.cel is cel]
        handed = {policy.key: policy for policy in template.policies}
        policies = [handed[key] for key in sorted(concerned) if key in handed]
        settler = Settler(self._runs, msgspec.structs.replace(template, exceptions=given))
        for layer in layers(failed):
            settler.settle(layer, policies)
        for subject in failed:
            own = answers[id(subject)]
            for index, (policy, rule) in enumerate(subject.due):
                if policy.key in concerned and own[index].outcome in _FAILED:
                    rows = settler.settled.rows_of(subject, policy)
                    accepted = self._accepting(policy, rule, rows)
                    if accepted:
                        self.used.update(accepted)
                        own[index] = msgspec.structs.replace(own[index], accepted_by=", ".join(accepted))

    def _concerning(self, policy: KyvernoPolicy, rule: KyvernoRule) -> list[PolicyException]:
        return [exception for exception in self._exceptions if names(exception, policy, rule)]

    def _accepting(self, policy: KyvernoPolicy, rule: KyvernoRule, rows: Sequence[Row]) -> list[str]:
        """Ids of the exceptions that spare every row of the rule; empty when one row still fails."""
        forms = {variant.row for variant in rule.variants}
        own = [row for row in rows if row.rule in forms or "" in forms]
        if not own or any(row.result not in _SPARED for row in own):
            return []
        named = {name.strip() for row in own for name in row.properties.get("exceptions", "").split(",")}
        concerning = self._concerning(policy, rule)
        matching = [exception.id for exception in concerning if exception.id.rpartition("/")[2] in named]
        # Partial exceptions (allowed values, pod security controls) turn a failure into a pass without being named.
        return sorted(matching or [exception.id for exception in concerning])


def names(exception: PolicyException, policy: KyvernoPolicy, rule: KyvernoRule) -> bool:
    """Whether an exception is about a rule; whether about an object, the CLI says."""
    if exception.cel is not (policy.family is PolicyFamily.VALIDATING):
        return False
    for target in exception.targets:
        if exception.cel:
            if target.policy == policy.name and target.kind == policy.kind:
                return True
        elif target.policy == policy.row_name and any(
            wildcard(pattern, variant.row) for pattern in target.rules for variant in rule.variants
        ):
            return True
    return False
