"""Planted faults: what is planted, and what tests notice of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.testing.mutants import mutants_of
from tests.integration.command import fleetaudit

RULE = """# METADATA
# scope: package
# title: Replicas are at least two
# description: One is none.
# custom:
#   severity: low
#   remediation: More.
#   match: {kinds: [{group: apps, kinds: [Deployment]}]}
package own.replicas

default applies := false

applies if is_number(input.spec.replicas)

violations contains v if {
	applies
	not exempt
	input.spec.replicas < 2
	v := {"path": ["spec", "replicas"], "message": "true < 2 # no fault"}
}

exempt if input.metadata.labels.single == "yes"
"""
GOOD = """package own.replicas_test

import data.own.replicas

object(n, labels) := {"metadata": {"labels": labels}, "spec": {"replicas": n}}

test_one_fails if count(replicas.violations) == 1 with input as object(1, {})

test_two_pass if count(replicas.violations) == 0 with input as object(2, {})

test_exempt if count(replicas.violations) == 0 with input as object(1, {"single": "yes"})

test_other_label if count(replicas.violations) == 1 with input as object(1, {"single": "no"})

test_text_does_not_apply if replicas.applies == false with input as {"spec": {"replicas": "1"}}

test_applies if replicas.applies == true with input as object(3, {})
"""
WEAK = """package own.replicas_test

import data.own.replicas

test_one_fails if count(replicas.violations) == 1 with input as {"spec": {"replicas": 1}}
"""


def test_faults_are_planted_in_code_and_not_in_texts_or_comments() -> None:
    planted = [(m.line, m.fault, m.after) for m in mutants_of(RULE)]
    assert planted == [
        (11, "truth", "default applies := true"),
        (16, "condition", ""),
        (17, "negation", "exempt"),
        (17, "condition", ""),
        (18, "comparison", "input.spec.replicas >= 2"),
        (18, "number", "input.spec.replicas < 3"),
        (18, "condition", ""),
        (22, "comparison", 'exempt if input.metadata.labels.single != "yes"'),
    ]


def scored(folder: Path, tests: str, *options: str) -> tuple[int, dict[str, object], str]:
    (folder / "replicas.rego").write_text(RULE)
    (folder / "replicas_test.rego").write_text(tests)
    done = fleetaudit(
        "rules", "mutate", "own/replicas", "--no-config", "--policy", folder, "--json", *options
    )
    return done.code, json.loads(done.out)[0] if done.out else {}, done.err


def test_good_tests_notice_all_but_what_cannot_be_seen(tmp_path: Path) -> None:
    code, found, _ = scored(tmp_path, GOOD, "--min-score", "0.8")
    missed = [(one["line"], one["fault"]) for one in found["missed"]]  # type: ignore[index]
    assert code == 0
    assert missed == [(16, "condition")], "violations are asked only where the rule applies"
    assert found["noticed"] == found["planted"] - 1  # type: ignore[operator]


def test_weak_tests_are_told(tmp_path: Path) -> None:
    code, found, _ = scored(tmp_path, WEAK, "--min-score", "0.8")
    assert code == 1
    assert found["noticed"] < found["planted"] / 2  # type: ignore[operator]


def test_a_rule_without_tests_notices_nothing(tmp_path: Path) -> None:
    code, found, _ = scored(tmp_path, "package own.replicas_test\n", "--min-score", "0.1")
    assert code == 1
    assert (found["tests"], found["planted"]) == (0, 0)


def test_tests_that_fail_before_are_an_error_with_their_place(tmp_path: Path) -> None:
    code, _, told = scored(tmp_path, WEAK.replace("== 1", "== 7"))
    assert code == 2
    assert "replicas_test.rego:5" in told
    assert "before any fault" in told


@pytest.mark.parametrize("arguments", [["own/nothing"], ["--min-score", "80"], ["--min-score", "x"]])
def test_usage(arguments: list[str]) -> None:
    assert fleetaudit("rules", "mutate", "--no-config", *arguments).code == 2
