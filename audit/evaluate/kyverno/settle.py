"""Answers from every object that can give one: a panic, an abort or a time-out costs the pair that caused it.

A run that fails says nothing about any of its objects. The culprit is found by halving (log2 n + 1 runs each), then
the policy it fails under is found the same way. A policy that fails on object after object is run apart, so that it
can't take the others' answers with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from audit.evaluate.kyverno.process import STOPPED
from audit.evaluate.kyverno.report_stream import Row
from audit.evaluate.kyverno.run import Attempt, Loss, RunRequest, Runs
from audit.evaluate.kyverno.subjects import Subject
from audit.model.kyverno import KyvernoPolicy

NOT_LOOKED_AT = "not_looked_at"
GIVEN_UP = "given_up"
_STRIKES = 3
"""Objects that fail under one policy before it is run apart."""


class Settled(msgspec.Struct, kw_only=True):
    """What is known of a set of objects under a set of policies."""

    rows: dict[int, dict[str, list[Row]]] = {}
    """By `id` of the subject, then by the policy's name in the rows."""
    lost: dict[int, Loss] = {}
    """Objects that no run could look at."""
    lost_pairs: dict[tuple[int, str], Loss] = {}
    """By `id` of the subject and key of the policy."""
    refused: dict[str, str] = {}

    def rows_of(self, subject: Subject, policy: KyvernoPolicy) -> Sequence[Row]:
        """The rows of one policy about one object."""
        return self.named_rows(subject, policy.row_name)

    def named_rows(self, subject: Subject, name: str) -> Sequence[Row]:
        """The rows about one object under a policy's name in the rows."""
        return self.rows.get(id(subject), {}).get(name, ())

    def loss(self, subject: Subject, policy: KyvernoPolicy) -> Loss | None:
        """Why there is no answer, or None when there was a run."""
        return self.lost.get(id(subject)) or self.lost_pairs.get((id(subject), policy.key))


class Settler:
    """Settles one shard. Not thread-safe; one for each shard.

    Args:
        runs: starts what judges.
        template: everything but policies and subjects.
        max_runs: after so many runs the rest is given up, with the last reason.
    """

    def __init__(self, runs: Runs, template: RunRequest, *, max_runs: int = 120) -> None:
        self.settled = Settled()
        self._runs = runs
        self._template = template
        self._left = max_runs
        self._strikes: Counter[str] = Counter()
        self._fine: set[frozenset[str]] = set()

    def settle(self, subjects: Sequence[Subject], policies: Sequence[KyvernoPolicy]) -> Settled:
        """Judge all subjects by all policies."""
        apart = [policy for policy in policies if self._strikes[policy.key] >= _STRIKES]
        together = [policy for policy in policies if self._strikes[policy.key] < _STRIKES]
        if together and subjects:
            self._settle(list(subjects), together)
        for policy in apart:
            self._settle_apart(list(subjects), policy)
        return self.settled

    def _settle(self, subjects: list[Subject], policies: list[KyvernoPolicy]) -> None:
        attempt = self._attempt(subjects, policies)
        if attempt.ok:
            self._accept(subjects, policies, attempt)
            return
        if attempt.code == STOPPED or self._left <= 0:
            self._lose(subjects, policies, attempt)
            return
        if not self._runs_alone(policies):
            self._without_culprits(subjects, policies)
            return
        poison, deferred = self._find_poison(subjects, policies)
        self._settle_poison(poison, policies)
        if deferred:
            self.settle(deferred, policies)

    def _find_poison(
        self, subjects: list[Subject], policies: list[KyvernoPolicy]
    ) -> tuple[Subject, list[Subject]]:
        """The one object a failing set is narrowed down to, and those not settled on the way."""
        current: list[Subject] = subjects
        deferred: list[Subject] = []
        while len(current) > 1:
            middle = len(current) // 2
            left, right = current[:middle], current[middle:]
            attempt = self._attempt(left, policies)
            if attempt.ok:
                self._accept(left, policies, attempt)
                current = right
            else:
                deferred = right + deferred
                current = left
        return current[0], deferred

    def _settle_poison(self, subject: Subject, policies: list[KyvernoPolicy]) -> None:
        attempt = self._attempt([subject], policies)
        if attempt.ok:
            self._accept([subject], policies, attempt)  # it failed beside others only
            return
        if len(policies) == 1:
            self._blame(subject, policies[0], attempt)
            return
        bare = self._attempt([subject], [])
        if not bare.ok:
            self._lose([subject], policies, bare)
            return
        current: list[KyvernoPolicy] = policies
        deferred: list[KyvernoPolicy] = []
        while len(current) > 1:
            middle = len(current) // 2
            left, right = current[:middle], current[middle:]
            attempt = self._attempt([subject], left)
            if attempt.ok:
                self._accept([subject], left, attempt)
                current = right
            else:
                deferred = right + deferred
                current = left
        attempt = self._attempt([subject], current)
        if attempt.ok:
            self._accept([subject], current, attempt)
        else:
            self._blame(subject, current[0], attempt)
        if deferred:
            self._settle_poison(subject, deferred)

    def _settle_apart(self, subjects: list[Subject], policy: KyvernoPolicy) -> None:
        """One unreliable policy: a few halvings, then the rest of its pairs are given up."""
        budget = min(self._left, 4 * _STRIKES)
        queue = [subjects] if subjects else []
        while queue:
            group = queue.pop()
            if budget <= 0:
                for subject in group:
                    self.settled.lost_pairs[id(subject), policy.key] = Loss(
                        GIVEN_UP, "it failed on object after object"
                    )
                continue
            budget -= 1
            attempt = self._attempt(group, [policy])
            if attempt.ok:
                self._accept(group, [policy], attempt)
            elif len(group) == 1:
                self.settled.lost_pairs[id(group[0]), policy.key] = attempt.loss
            else:
                middle = len(group) // 2
                queue += [group[middle:], group[:middle]]

    def _without_culprits(self, subjects: list[Subject], policies: list[KyvernoPolicy]) -> None:
        """The policies fail by themselves: find which, then judge by the others."""
        bare = self._attempt([], [])
        if not bare.ok:
            self._lose(subjects, policies, bare)
            return
        bad, good = self._part_policies(policies)
        for policy, loss in bad:
            for subject in subjects:
                self.settled.lost_pairs[id(subject), policy.key] = loss
        if good:
            self._settle(subjects, good)

    def _part_policies(
        self, policies: list[KyvernoPolicy]
    ) -> tuple[list[tuple[KyvernoPolicy, Loss]], list[KyvernoPolicy]]:
        attempt = self._attempt([], policies)
        if attempt.ok:
            return [], policies
        if len(policies) == 1 or self._left <= 0:
            return [(policy, attempt.loss) for policy in policies], []
        middle = len(policies) // 2
        left = self._part_policies(policies[:middle])
        right = self._part_policies(policies[middle:])
        return left[0] + right[0], left[1] + right[1]

    def _runs_alone(self, policies: Sequence[KyvernoPolicy]) -> bool:
        """Whether these policies run at all, with nothing but the canary to judge."""
        keys = frozenset(policy.key for policy in policies)
        if keys not in self._fine and self._attempt([], policies).ok:
            self._fine.add(keys)
        return keys in self._fine

    def _attempt(self, subjects: Sequence[Subject], policies: Sequence[KyvernoPolicy]) -> Attempt:
        self._left -= 1
        request = msgspec.structs.replace(self._template, subjects=subjects, policies=policies)
        attempt = self._runs.attempt(request)
        self.settled.refused |= attempt.refused
        return attempt

    def _accept(
        self, subjects: Sequence[Subject], policies: Sequence[KyvernoPolicy], attempt: Attempt
    ) -> None:
        missed = []
        for (place, key), loss in attempt.lost.items():
            self.settled.lost_pairs[id(subjects[place]), key] = loss
        for subject, rows, seen in zip(subjects, attempt.rows, attempt.seen, strict=True):
            if seen:
                by_policy = self.settled.rows.setdefault(id(subject), {})
                for row in rows:
                    by_policy.setdefault(row.policy, []).append(row)
            else:
                missed.append(subject)
        if not missed:
            return
        if len(missed) < len(subjects) and self._left > 0:
            self._settle(missed, list(policies))
        else:
            reason = "the report does not mention it, though the run ended well"
            for subject in missed:
                self.settled.lost[id(subject)] = Loss(NOT_LOOKED_AT, reason)

    def _lose(self, subjects: Sequence[Subject], policies: Sequence[KyvernoPolicy], attempt: Attempt) -> None:
        for subject in subjects:
            for policy in policies:
                self.settled.lost_pairs[id(subject), policy.key] = attempt.loss

    def _blame(self, subject: Subject, policy: KyvernoPolicy, attempt: Attempt) -> None:
        self._strikes[policy.key] += 1
        self.settled.lost_pairs[id(subject), policy.key] = attempt.loss
