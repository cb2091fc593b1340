"""OPA's own test cases, and how a case is put to the evaluator's loop and judged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from audit.errors import EngineError
from audit.native.evaluator import EvalLimits, Evaluator, QueryResult


class Miss(NamedTuple):
    """A case whose answer is not the one wanted."""

    note: str
    wanted: Any
    got: Any


class Score(NamedTuple):
    """What came of a suite."""

    passed: int
    total: int
    misses: list[Miss]

    def text(self, explanations: dict[str, str]) -> str:
        lines = [f"{self.passed} / {self.total} passed"]
        lines += [
            f"  miss: {miss.note}: {explanations.get(miss.note, 'NOT EXPLAINED')}" for miss in self.misses
        ]
        return "\n".join(lines)


class _CaseLoader(yaml.CSafeLoader):
    """YAML as the suite's authors mean it: dates, ``on`` and ``yes`` stay text."""


_CaseLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":bool"))]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_CaseLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load_cases(folder: Path) -> Iterator[dict[str, Any]]:
    """Cases of all JSON or YAML files below a folder, in a fixed order."""
    for file in sorted([*folder.rglob("*.json"), *folder.rglob("*.yaml")]):
        if file.suffix == ".json":
            document = json.loads(file.read_bytes())
        else:
            document = yaml.load(file.read_bytes(), _CaseLoader)
        yield from document["cases"]


def run(cases: Iterator[dict[str, Any]], *, v0: bool = False) -> Score:
    """Put all cases to one evaluator."""
    passed = total = 0
    misses: list[Miss] = []
    with Evaluator(jobs=2, limits=EvalLimits(object_seconds=10)) as evaluator:
        for case in cases:
            total += 1
            try:
                answer = evaluator.query(_request(case, v0=v0))
            except EngineError as error:
                answer = QueryResult(None, "engine", str(error))
            if agrees(case, answer):
                passed += 1
            else:
                misses.append(
                    Miss(case["note"], case.get("want_result") or case.get("want_error_code"), answer)
                )
    return Score(passed, total, misses)


def _request(case: dict[str, Any], *, v0: bool) -> dict[str, Any]:
    request: dict[str, Any] = {
        "query": case["query"],
        "modules": case.get("modules") or [],
        "strict": bool(case.get("strict_error")),
        "v0": v0,
        "all_builtins": True,
    }
    for key in ("data", "input"):
        if case.get(key) is not None:
            request[key] = _plain(case[key])
    if case.get("input_term"):
        request["input_term"] = case["input_term"]
    return request


def agrees(case: dict[str, Any], answer: QueryResult) -> bool:
    """Whether an answer is the one the case wants. Of errors the code counts, their wording does not."""
    if case.get("want_error_code") or case.get("want_error"):
        return answer.results is None and case.get("want_error_code") in (None, answer.code)
    if answer.results is None:
        return False
    if case.get("want_defined") is not None:
        return bool(answer.results) == case["want_defined"]
    as_sets = bool(case.get("sort_bindings"))
    got = [{k: v for k, v in row.items() if not k.startswith(("__", "$"))} for row in answer.results]
    return _canonical(got, as_sets=as_sets) == _canonical(case.get("want_result") or [], as_sets=as_sets)


def _canonical(rows: list[dict[str, Any]], *, as_sets: bool) -> list[str]:
    return sorted(
        json.dumps(_sorted(_plain(row)) if as_sets else _plain(row), sort_keys=True) for row in rows
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def _plain(value: Any) -> Any:
    """JSON as the engine gets it: keys are text, and 3.0 is the number 3."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
