"""Runs the test cases beside Kubescape's rules: objects in, alerts expected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from audit.library.kyverno.go_yaml import read_documents
from audit.model.finding import Outcome, PairAnswer, render_path
from audit.model.foreign import ForeignProgram
from audit.native.evaluator import Evaluator
from tests.foreign.foreign_runs import ask

Alert = tuple[str, str]


class Case(NamedTuple):
    """One test case of one rule."""

    rule: str
    name: str
    objects: list[dict[str, Any]]
    expected: set[Alert]
    data: dict[str, Any]
    """Inputs that the case sets."""


def cases(folder: Path) -> Iterator[Case]:
    for test in sorted((folder / "test").glob("*")):
        expected = test / "expected.json"
        if not expected.is_file():
            continue
        objects = [value for file in sorted((test / "input").glob("*")) for value in _objects(file)]
        alerts = json.loads(expected.read_text(encoding="utf-8")) or []
        inputs = test / "data.json"
        data = json.loads(inputs.read_text(encoding="utf-8")) if inputs.is_file() else {}
        yield Case(folder.name, test.name, objects, {p for alert in alerts for p in _pairs(alert)}, data)


def _objects(file: Path) -> Iterator[dict[str, Any]]:
    for document in read_documents(file.read_text(encoding="utf-8"), str(file)):
        if isinstance(document.value, dict):
            # Kubescape's own objects always have one by the time a rule sees them.
            yield {"metadata": {}, **document.value}


def _pairs(alert: dict[str, Any]) -> Iterator[Alert]:
    paths = {path for key in ("reviewPaths", "failedPaths", "deletePaths") for path in alert.get(key) or []}
    paths |= {entry["path"] for entry in alert.get("fixPaths") or []}
    for path in {path for path in paths if path} or {""}:
        yield alert["alertMessage"], path.replace('"', "").replace("'", "")


def run_case(evaluator: Evaluator, program: ForeignProgram, case: Case) -> tuple[bool, str]:
    """Whether the alerts are the expected ones, and what is different."""
    inputs = {**program.data.get("postureControlInputs", {}), **case.data.get("postureControlInputs", {})}
    program = msgspec.structs.replace(
        program, data={**program.data, **case.data, "postureControlInputs": inputs}
    )
    answers = [answer for each in ask(evaluator, program, case.objects) for answer in each.values()]
    errors = [answer.message for answer in answers if answer.outcome is Outcome.ERROR]
    found = {pair for answer in answers for pair in _found(answer)}
    wanted = {(message, _shape(path)) for message, path in case.expected}
    if errors:
        return False, f"error: {errors[:2]}"
    if found == wanted:
        return True, ""
    return False, f"missing {sorted(wanted - found)[:2]}, not expected {sorted(found - wanted)[:2]}"


def _found(answer: PairAnswer) -> Iterator[Alert]:
    for violation in answer.violations:
        yield violation.message, _shape(render_path(violation.path))


def _shape(path: str) -> str:
    """A path however its keys are written."""
    return re.sub(r"\[([^\]\d][^\]]*)\]", r".\1", path.replace('"', "")).lstrip(".")
