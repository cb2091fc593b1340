"""Test rules in the child: each within its limits, and none takes the others with it."""

from __future__ import annotations

import itertools

import pytest

from audit.errors import EngineError
from audit.native.evaluator import EvalLimits
from audit.native.suite import RegoVerdict, SuiteRunner

LOOP = "some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a * b == -1"


def run(modules: dict[str, str], limits: EvalLimits | None = None, jobs: int = 2) -> dict[str, RegoVerdict]:
    with SuiteRunner(jobs=jobs, limits=limits) as runner:
        report = runner.load(modules)
        assert not report.problems
        verdicts = list(runner.run(report.tests))
        return {test.name: verdict for test, verdict in zip(report.tests, verdicts, strict=True)}


def test_an_endless_test_costs_itself() -> None:
    found = run(
        {"a_test.rego": f"package a\n\ntest_endless if {{ {LOOP} }}\n\ntest_after if true\n"},
        EvalLimits(object_seconds=0.3),
    )
    assert found["test_endless"].code == "timeout"
    assert "300ms" in found["test_endless"].message
    assert found["test_after"].value == "true"


def test_a_test_that_takes_all_memory_costs_itself() -> None:
    greedy = "count([x | some x in numbers.range(1, 100000000)]) > 1"
    found = run(
        {"a_test.rego": f"package a\n\ntest_greedy if {{ {greedy} }}\n\ntest_after if true\n"},
        EvalLimits(object_seconds=60, memory_bytes=400 << 20),
    )
    assert found["test_greedy"].code in ("memory", "engine_failed")
    assert found["test_after"].value == "true"


def test_more_tests_than_a_batch_in_their_order() -> None:
    many = "".join(f"test_{n} if {n} % 3 != 0\n\n" for n in range(500))
    found = run({"a_test.rego": f"package a\n\n{many}"})
    assert [v.value == "true" for v in found.values()] == [n % 3 != 0 for n in range(500)]


def test_verdicts_come_before_all_tests_are_asked() -> None:
    many = "".join(f"test_{n} if true\n\n" for n in range(2000))
    with SuiteRunner(jobs=1) as runner:
        report = runner.load({"a_test.rego": f"package a\n\n{many}"})
        asked = 0

        def tests():  # type: ignore[no-untyped-def]  # a generator of the tests, counting
            nonlocal asked
            for test in report.tests:
                asked += 1
                yield test

        assert all(v.value == "true" for v in itertools.islice(runner.run(tests()), 5))
        assert asked < 500


def test_data_is_seen_and_coverage_is_noted() -> None:
    with SuiteRunner(jobs=1, coverage=True) as runner:
        report = runner.load(
            {
                "p.rego": "package p\n\na if data.given.x == 1\n\nb if {\n\tfalse\n\tinput.more\n}\n",
                "p_test.rego": "package p_test\n\ntest_a if data.p.a\n\ntest_b if not data.p.b\n",
            },
            b'{"given": {"x": 1}}',
        )
        assert [v.value for v in runner.run(report.tests)] == ["true", "true"]
        assert 3 in runner.reached["p.rego"]
        assert 7 in runner.countable["p.rego"] - runner.reached["p.rego"]


def test_nothing_is_run_before_something_is_loaded() -> None:
    with SuiteRunner(jobs=1) as runner, pytest.raises(EngineError, match="no tests are loaded"):
        list(runner.run(()))


def test_rules_and_data_that_contradict_each_other_are_a_problem() -> None:
    with SuiteRunner(jobs=1) as runner:
        report = runner.load({"p.rego": "package p\n\na := 1\n"}, b'{"p": {"a": 2}}')
        assert [problem.file for problem in report.problems] == ["p.rego"]
