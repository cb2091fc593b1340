"""Loads a policy source and asks it about objects, through the real engine and without the rest of an audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from audit.evaluate.rego.foreign import ForeignRegoEngine, eval_rules
from audit.library.foreign.load import ForeignLoad, load_source
from audit.library.policy_source import PolicySource
from audit.model.finding import PairAnswer
from audit.model.foreign import ForeignProgram
from audit.model.subject import SubjectRef, kind_key
from audit.native.evaluator import Evaluator
from audit.normalise.context import ClusterContext
from audit.ports import CollectedObject

Object = Mapping[str, Any]


def load(evaluator: Evaluator, path: Path, **known: Any) -> ForeignLoad:
    """Read a source that is called ``own`` in rule ids."""
    return load_source(
        PolicySource(path=path, label=path.name, builtin=False, **known), known.get("name", "own"), evaluator
    )


def collected(value: Object) -> CollectedObject:
    """An object as the pipeline hands it to engines; its whole is its projection."""
    group, _, version = str(value.get("apiVersion", "")).rpartition("/")
    metadata = value.get("metadata") or {}
    raw = json.dumps(value).encode()
    ref = SubjectRef(
        cluster="here",
        group=group,
        version=version,
        kind=str(value.get("kind", "")),
        namespace=str(metadata.get("namespace", "")),
        name=str(metadata.get("name", "")),
        source="objects.yaml",
        document=1,
    )
    return CollectedObject(ref=ref, raw=raw, projection=raw)


@contextmanager
def loaded(evaluator: Evaluator, program: ForeignProgram) -> Iterator[ForeignRegoEngine]:
    """The program's engine over an evaluator of the caller's, which stays open."""
    selected = frozenset(ask.rule.id for ask in program.asks)
    evaluator.load(program.modules, msgspec.json.encode(program.data), eval_rules(program, selected)).check()
    yield ForeignRegoEngine(evaluator, program, selected)


def ask(
    evaluator: Evaluator, program: ForeignProgram, objects: Sequence[Object], inventory: Iterable[Object] = ()
) -> list[dict[str, PairAnswer]]:
    """Answers by rule id for each object, then for the Cluster; the inventory is all objects and more."""
    kinds = {kind for one in program.asks for kind in one.rule.context_kinds}
    context = ClusterContext("here", kinds)
    subjects = [collected(value) for value in objects]
    for item in (*subjects, *(collected(value) for value in inventory)):
        if kind_key(item.ref.group, item.ref.kind) in kinds:
            context.see(item)
    cluster = next(iter(context.derived()))
    with loaded(evaluator, program) as engine:
        return [
            {answer.rule: answer for answer in answers}
            for answers in engine.evaluate("here", [*subjects, cluster], context.inventory())
        ]
