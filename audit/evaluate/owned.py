"""What a controller made repeats its failures: each is told once, and only when it is the same in everything that matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from audit.model.canonical import canonical_json
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.subject import controller_key
from audit.ports import CollectedObject

OWNED = "told_of_its_controller"
_LISTS = ("containers", "initContainers", "ephemeralContainers")
_RUNS = ("image", "command", "args")


class Told:
    """Failures of controllers, and which failures of what they own are those again.

    The owned object is judged all the same. An owner reference is only a claim that anybody can write, so it hides nothing
    but an exact repetition: the same rule, the same place in the pod, the same value and words, and a container of that name that
    runs the same image, command and arguments. A container that was injected, another image under the same name or one
    more host path are findings of their own.

    Args:
        kinds: kinds with pod templates, ``Pod`` among them; empty where nothing has a controller.
    """

    def __init__(self, kinds: frozenset[str]) -> None:
        self._kinds = kinds
        self._failed: dict[int, frozenset[int]] = {}

    def once(self, item: CollectedObject, answers: list[PairAnswer]) -> list[PairAnswer]:
        """The answers to book, with repeated failures as skips."""
        ref = item.ref
        if ref.kind_key not in self._kinds:
            return answers
        known = self._failed.get(controller_key(ref.namespace, *item.controller)) if item.controller else None
        owns = ref.kind_key != "Pod"
        if not (known or owns) or not any(a.outcome is Outcome.FAIL for a in answers):
            return answers
        runs = _runs(item.raw)
        marks = {a.rule: _marks(a, runs) for a in answers if a.outcome is Outcome.FAIL}
        if owns:
            own = frozenset(mark for found in marks.values() for mark in found)
            self._failed[controller_key(ref.namespace, ref.kind, ref.name)] = own
        if not known or not item.controller:
            return answers
        message = f"told of its controller {item.controller[0]} {item.controller[1]}"
        return [
            PairAnswer(a.rule, Outcome.SKIP, reason=OWNED, message=message)
            if a.outcome is Outcome.FAIL and marks[a.rule] and marks[a.rule] <= known
            else a
            for a in answers
        ]


def _marks(answer: PairAnswer, runs: dict[str, list[Any]]) -> frozenset[int]:
    """One for each violation; only membership is ever asked, within one process. None where it can't be told what a container runs."""
    if any(v.container and v.container not in runs for v in answer.violations):
        return frozenset()
    return frozenset(hash((answer.rule, *_mark(violation, runs))) for violation in answer.violations)


def _mark(violation: Violation, runs: dict[str, list[Any]]) -> tuple[object, ...]:
    return (
        _in_the_pod(violation.path),
        violation.container,
        violation.message,
        canonical_json(violation.seen),
        canonical_json(runs.get(violation.container)) if violation.container else b"",
    )


def _in_the_pod(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The path from the pod on, behind the last template, with blank indexes: containers may be injected before it."""
    begins = 0
    for place, segment in enumerate(path):
        if isinstance(segment, str) and segment.lower().endswith("template"):
            begins = place + 1
    return tuple("" if isinstance(segment, int) else segment for segment in path[begins:])


def _runs(raw: bytes) -> dict[str, list[Any]]:
    """What the containers of each name run, wherever they stand in the object; each different answer once."""
    found: dict[str, list[Any]] = {}
    for container in _containers(msgspec.json.decode(raw)):
        name = container.get("name")
        if isinstance(name, str):
            runs = [container.get(key) for key in _RUNS]
            known = found.setdefault(name, [])
            if runs not in known:
                known.append(runs)
    return found


def _containers(node: Any) -> Iterator[dict[str, Any]]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            for key, value in part.items():
                if key in _LISTS and isinstance(value, list):
                    yield from (one for one in value if isinstance(one, dict))
                elif isinstance(value, dict | list):
                    waiting.append(value)
        elif isinstance(part, list):
            waiting += [one for one in part if isinstance(one, dict | list)]
