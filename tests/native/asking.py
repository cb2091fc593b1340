"""Asking rules in tests, without the ceremony."""

from __future__ import annotations

import json
from typing import Any

from audit.model.finding import PairAnswer
from audit.native.evaluator import EvalLimits, EvalRule, Evaluator

APPLIES = "default applies := false\napplies if input.metadata.name\n"
PASSES = APPLIES + "violations contains v if { false; v := {} }\n"
FAILS = (
    APPLIES
    + 'violations contains {"path": ["metadata", "name"], "message": "m", "seen": input.metadata.name, '
    '"expected": [1, {"a": null}], "container": "c"}\n'
)
LOOP = "some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a * b == -1"


def when(name: str, body: str) -> str:
    """A rule that does something about one object only."""
    return APPLIES + f'violations contains v if {{ input.metadata.name == "{name}"; {body}; v := {{}} }}\n'


def modules(**bodies: str) -> dict[str, str]:
    return {f"{name}.rego": f"package r.{name}\n{body}" for name, body in bodies.items()}


def rules(**bodies: str) -> list[EvalRule]:
    return [EvalRule(id=f"r/{name}", package=f"r.{name}", not_applicable="no_name") for name in bodies]


def pod(name: str, **more: Any) -> tuple[str, bytes]:
    return "Pod", json.dumps({"kind": "Pod", "metadata": {"name": name}, **more}).encode()


def pods(count: int) -> list[tuple[str, bytes]]:
    return [pod(f"p{n}") for n in range(count)]


def loaded(limits: EvalLimits | None = None, **bodies: str) -> Evaluator:
    """An evaluator that asks these rules of every kind."""
    evaluator = Evaluator(jobs=2, limits=limits)
    try:
        evaluator.load(modules(**bodies), b"{}", rules(**bodies)).check()
    except BaseException:
        evaluator.close()
        raise
    return evaluator


def outcomes(answers: list[PairAnswer]) -> str:
    """First letters of the outcomes."""
    return "".join(answer.outcome.value[0] for answer in answers)
