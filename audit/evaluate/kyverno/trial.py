"""Do the policies load? Asked once, before anything is judged: the CLI skips what it can't read and exits with 0.

A trial run prints how many policy rules it applies. When that is not what the documents say, halving finds the
document that is missing, and the log says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from audit.evaluate.kyverno.log_lines import LogLine, clean
from audit.evaluate.kyverno.offline import ReadyPolicy
from audit.evaluate.kyverno.run import Attempt, RunRequest, Runs
from audit.evaluate.kyverno.surroundings import surroundings_of
from audit.model.kyverno import KyvernoPolicy, PolicyException, PolicyFamily


class Trial:
    """Trials of policies: do they load?"""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._surroundings = surroundings_of(b"")

    def unloadable(self, ready: Sequence[ReadyPolicy]) -> dict[str, str]:
        """Key and reason of each policy that the CLI does not load."""
        found: dict[str, str] = {}
        for family in PolicyFamily:
            group = [one for one in ready if one.policy.family is family and one.policy.document]
            if group:
                found |= self._check(family, group)
        return found

    def broken_exceptions(
        self, family: PolicyFamily, exceptions: Sequence[PolicyException]
    ) -> dict[str, str]:
        """Id and reason of each exception that the CLI refuses: one would abort every run."""
        attempt = self._attempt(family, [], exceptions)
        if attempt.ok:
            return {}
        if len(exceptions) == 1:
            return {exceptions[0].id: attempt.reason}
        middle = len(exceptions) // 2
        return self.broken_exceptions(family, exceptions[:middle]) | self.broken_exceptions(
            family, exceptions[middle:]
        )

    def _check(self, family: PolicyFamily, ready: Sequence[ReadyPolicy]) -> dict[str, str]:
        attempt = self._attempt(family, [one.policy for one in ready])
        refused = {
            one.policy.key: clean(attempt.refused[one.policy.name])
            for one in ready
            if one.policy.name in attempt.refused
        }
        expected = sum(one.rows for one in ready)
        if attempt.ok and attempt.counted == expected:
            return refused
        if len(ready) == 1:
            return refused or {ready[0].policy.key: _why(attempt)}
        middle = len(ready) // 2
        return refused | self._check(family, ready[:middle]) | self._check(family, ready[middle:])

    def _attempt(
        self,
        family: PolicyFamily,
        policies: Sequence[KyvernoPolicy],
        exceptions: Sequence[PolicyException] = (),
    ) -> Attempt:
        return self._runs.attempt(
            RunRequest(
                family=family,
                policies=policies,
                subjects=(),
                surroundings=self._surroundings,
                exceptions=exceptions,
                trial=True,
            )
        )


def _why(attempt: Attempt) -> str:
    if not attempt.ok:
        return f"the Kyverno CLI can't run it: {attempt.reason}"
    said = [line for line in attempt.log if _is_loading(line)]
    if said:
        return f"the Kyverno CLI skipped it: {clean(said[0].fields.get('error') or said[0].message)}"
    if attempt.counted > 0:
        return f"the Kyverno CLI makes {attempt.counted} rules of it, which is not what the document says"
    return "the Kyverno CLI skipped it without a word"


def _is_loading(line: LogLine) -> bool:
    return "skipping invalid YAML file" in line.message or "Non-fatal parsing error" in line.message


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What is left after the trial."""

    policies: tuple[KyvernoPolicy, ...]
    exceptions: tuple[PolicyException, ...]
    unloadable: dict[str, str]
    """Reason by policy key."""
    broken_exceptions: dict[str, str]
    """Reason by exception id."""


def try_all(
    runs: Runs,
    policies: Sequence[KyvernoPolicy],
    ready: Sequence[ReadyPolicy],
    exceptions: Sequence[PolicyException],
) -> Loaded:
    """Trial of everything."""
    trial = Trial(runs)
    unloadable = trial.unloadable(ready)
    broken: dict[str, str] = {}
    for family, cel in ((PolicyFamily.CLASSIC, False), (PolicyFamily.VALIDATING, True)):
        group = [exception for exception in exceptions if exception.cel is cel]
        if group:
            broken |= trial.broken_exceptions(family, group)
    return Loaded(
        policies=tuple(policy for policy in policies if policy.key not in unloadable),
        exceptions=tuple(exception for exception in exceptions if exception.id not in broken),
        unloadable=unloadable,
        broken_exceptions=broken,
    )
