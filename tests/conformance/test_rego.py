"""OPA's conformance suites through the evaluator's own loop: every miss has a name and a reason."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.rego_cases import load_cases, run
from tests.shared_data import CHECKOUT, shared_dir

# test.sleep exists only inside OPA's own test program.
PINNED_MISSES = {"time/time caching": "test.sleep exists in OPA's test program only"}

_NEWER = "the case is older than the pinned OPA, whose own case of this name wants what the engine answers"
SHARED_MISSES = {
    "graphql_parse_query/success-basic-ast simple query": _NEWER,
    "graphql_parse_query/success-basic-ast with arguments": _NEWER,
    "graphql_parse_query/success-basic-ast inline fragments and type conditions": _NEWER,
    "graphql_parse_query/success-basic-ast meta fields and introspection": _NEWER,
    "graphql_parse_and_verify/success extending non-existent types": _NEWER,
    "graphql_parse_and_verify/success validation rules are independent case 2": _NEWER,
    "graphql_parse_and_verify/success no unused variables": _NEWER,
    "reachable_paths/cycle_1022_3": _NEWER,
}


def pinned_suite(dialect: str) -> Path:
    """The suite inside the module that the engine is built from."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("no Go on PATH: the suite inside the pinned module cannot be found")
    found = subprocess.run(
        [go, "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa"],
        cwd=CHECKOUT / "native",
        capture_output=True,
        text=True,
        check=False,
    )
    folder = Path(found.stdout.strip()) / "v1" / "test" / "cases" / "testdata" / dialect
    if found.returncode != 0 or not found.stdout.strip() or not folder.is_dir():
        pytest.skip("the pinned OPA module is not in Go's module cache")
    return folder


@pytest.mark.corpora
def test_shared_cases(capsys: pytest.CaptureFixture[str]) -> None:
    score = run(load_cases(shared_dir("corpora", "rego-conformance")))
    with capsys.disabled():
        print(f"\nRego conformance, shared cases: {score.text(SHARED_MISSES)}")
    assert score.total > 1400
    assert {miss.note for miss in score.misses} <= SHARED_MISSES.keys()


@pytest.mark.parametrize(("dialect", "least"), [("v1", 2399), ("v0", 2026)])
def test_suite_of_the_pinned_opa(dialect: str, least: int, capsys: pytest.CaptureFixture[str]) -> None:
    score = run(load_cases(pinned_suite(dialect)), v0=dialect == "v0")
    with capsys.disabled():
        print(f"\nRego conformance, pinned OPA, {dialect}: {score.text(PINNED_MISSES)}")
    assert [miss.note for miss in score.misses] == list(PINNED_MISSES)
    assert score.passed >= least


@pytest.mark.corpora
def test_explained_misses_are_what_the_pinned_opa_wants() -> None:
    """The explanation given for shared cases holds: the pinned suite has the same notes, and they pass there."""
    pinned = [case for case in load_cases(pinned_suite("v1")) if case["note"] in SHARED_MISSES]
    assert {case["note"] for case in pinned} == SHARED_MISSES.keys()
    score = run(iter(pinned))
    assert score.misses == []


def test_a_wrong_answer_is_noticed() -> None:
    case = {"note": "n", "query": "x = 1", "want_result": [{"x": 2}]}
    assert run(iter([case])).misses[0].note == "n"
    assert run(iter([{**case, "want_result": [{"x": 1}]}])).misses == []
    assert run(iter([{**case, "want_result": None, "want_error_code": "eval_conflict_error"}])).passed == 0
