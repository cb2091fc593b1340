"""How good the tests of a rule are: of the faults planted in it, how many they notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from audit.errors import ContentError
from audit.model.rule import MutationScore
from audit.native.evaluator import EvalLimits
from audit.native.suite import RegoTest, RegoVerdict, SuiteRunner
from audit.testing.mutants import Mutant, mutants_of


class RuleScore(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the faults planted in one rule."""

    rule: str
    file: str
    score: MutationScore
    missed: tuple[Mutant, ...]
    """Those that no test noticed."""


class RuleUnderTest(msgspec.Struct, frozen=True, kw_only=True):
    """A rule and what its tests need."""

    rule: str
    file: str
    """Label of its module."""
    text: str
    tests: Mapping[str, str]
    """Label to source of the files with its tests."""
    shared: Mapping[str, str]
    """All that rule and tests import."""

    def modules(self, text: str) -> dict[str, str]:
        """The program with this text as the rule."""
        return {**self.shared, **self.tests, self.file: text}


def score(
    rules: Sequence[RuleUnderTest], data: bytes, *, jobs: int, seconds: float = 5.0
) -> Iterator[RuleScore]:
    """Plant one fault after the other in each rule, and run its tests.

    Args:
        rules: what is asked about.
        data: JSON object that modules see as ``data``.
        jobs: cores to use.
        seconds: for one test; a fault that makes one endless is noticed.

    Raises:
        ContentError: a rule doesn't compile, or its tests fail before anything is planted.
    """
    with SuiteRunner(jobs=jobs, limits=EvalLimits(object_seconds=seconds)) as runner:
        for rule in rules:
            yield _score(runner, rule, data)


def _score(runner: SuiteRunner, rule: RuleUnderTest, data: bytes) -> RuleScore:
    report = runner.load(rule.modules(rule.text), data)
    if report.problems:
        raise report.problems[0].error()
    tests = [test for test in report.tests if test.file in rule.tests and not test.todo]
    if failing := next(
        (t for t, verdict in zip(tests, runner.run(tests), strict=True) if not _passes(verdict)), None
    ):
        raise ContentError(
            f"{failing.name} fails before any fault is planted", file=failing.file, line=failing.line
        )
    planted = noticed = 0
    missed: list[Mutant] = []
    for mutant in mutants_of(rule.text) if tests else ():
        if runner.load(rule.modules(mutant.source), data).problems:
            continue
        planted += 1
        if _is_noticed(runner, tests):
            noticed += 1
        else:
            missed.append(mutant)
    return RuleScore(
        rule=rule.rule,
        file=rule.file,
        score=MutationScore(tests=len(tests), planted=planted, noticed=noticed),
        missed=tuple(missed),
    )


def _is_noticed(runner: SuiteRunner, tests: Sequence[RegoTest]) -> bool:
    return not all(_passes(verdict) for verdict in runner.run(tests))


def _passes(verdict: RegoVerdict) -> bool:
    rows = verdict.cases if verdict.cases is not None else ()
    good = verdict.value == "true" or bool(rows)
    return good and not verdict.code and not any(row.fail for row in rows)
