"""Runs the suites that Gatekeeper's library ships (``suite.yaml``), case by case."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from audit.library.kyverno.go_yaml import read_documents
from audit.model.finding import Outcome, PairAnswer
from audit.native.evaluator import Evaluator
from tests.foreign.foreign_runs import ask, load


class Row(NamedTuple):
    """One expectation of a suite."""

    suite: str
    test: str
    case: str
    agrees: bool
    why: str


def documents(path: Path) -> list[Any]:
    return [document.value for document in read_documents(path.read_text(encoding="utf-8"), str(path))]


def run_suite(evaluator: Evaluator, suite: Path) -> Iterator[Row]:
    (content,) = documents(suite)
    for test in content.get("tests", []):
        yield from _test(evaluator, suite, test)


def _test(evaluator: Evaluator, suite: Path, test: dict[str, Any]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "policies"
        here.mkdir()
        shutil.copy(suite.parent / test["template"], here / "template.yaml")
        shutil.copy(suite.parent / test["constraint"], here / "constraint.yaml")
        result = load(evaluator, here)
        if test.get("invalid"):
            refused = any("constraint.yaml" in gap.source for gap in result.gaps)
            yield Row(str(suite), test["name"], "", refused, "not refused" if not refused else "")
            return
        for case in test.get("cases", []):
            name = case["name"]
            if not result.programs:
                why = "; ".join(gap.reason for gap in result.gaps)
                yield Row(str(suite), test["name"], name, agrees=False, why=f"not loaded: {why}")
                continue
            value = documents(suite.parent / case["object"])[0]
            inventory = [d for file in case.get("inventory", []) for d in documents(suite.parent / file)]
            if value.get("kind") == "AdmissionReview":
                yield Row(
                    str(suite), test["name"], name, agrees=False, why="the case is a request, not an object"
                )
                continue
            answers = ask(evaluator, result.programs[0], [value], inventory)[0]
            problems = [problem for a in case.get("assertions", []) if (problem := _assertion(a, answers))]
            yield Row(str(suite), test["name"], name, not problems, "; ".join(problems))


def _assertion(assertion: dict[str, Any], answers: dict[str, PairAnswer]) -> str:
    messages = [v.message for answer in answers.values() for v in answer.violations]
    errors = [answer.message for answer in answers.values() if answer.outcome is Outcome.ERROR]
    if errors:
        # Gatekeeper reports an object that it cannot match as a violation; here it is an error.
        return "" if assertion.get("violations") in (True, "yes") else f"error: {errors}"
    pattern = assertion.get("message")
    hits = [m for m in messages if pattern is None or re.search(pattern, m)]
    wanted = assertion.get("violations", True)
    if wanted in (True, "yes"):
        return "" if hits else "expected a violation"
    if wanted in (False, "no"):
        return "" if not hits else f"expected none, got {hits[:2]}"
    return "" if len(hits) == int(wanted) else f"expected {wanted}, got {len(hits)}: {hits[:3]}"
