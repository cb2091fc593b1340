"""Policies of other tools, answered by the embedded OPA in a child of their own: one for each program."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from audit.model.api_resources import is_namespaced
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.foreign import ACCEPTED_KEY, UNRESOLVED_DATA, ForeignAsk, ForeignProgram, InventoryLayout
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.model.subject import SubjectRef, derived_key
from audit.native.evaluator import EvalRule, Evaluator
from audit.ports import CollectedObject

NAMESPACE_ASSUMED = "namespace_assumed"
"""Caveat: the manifest names no namespace, and the policy was shown `default`."""
_UNMATCHED = "applies is undefined"
_SHOWS_NAMESPACES = (InventoryLayout.GATEKEEPER,)


def eval_rules(program: ForeignProgram, selected: frozenset[str]) -> list[EvalRule]:
    """What the program's child is asked.

    Kinds with a wildcard are not known to the child: such a rule is asked of every kind, and what was not due is
    left out afterwards.
    """
    return [
        EvalRule(
            id=ask.rule.id,
            package=ask.package,
            kinds=_exact_kinds(ask.rule),
            not_applicable=ask.rule.not_applicable,
            warn_only=ask.rule.warn_only,
        )
        for ask in program.asks
        if ask.rule.id in selected
    ]


def _exact_kinds(rule: Rule) -> tuple[str, ...]:
    if any("*" in kind for kind in rule.kinds):
        return ()
    return (*rule.kinds, *(derived_key(kind) for kind in rule.kinds if rule.match_derived))


class ForeignRegoEngine:
    """An `Engine` over one program.

    Args:
        evaluator: has the program loaded with `eval_rules`; closed with the engine.
        program: the program.
        selected: ids of the rules that are asked.
    """

    def __init__(self, evaluator: Evaluator, program: ForeignProgram, selected: frozenset[str]) -> None:
        self._evaluator = evaluator
        self._program = program
        self._asks = {ask.rule.id: ask for ask in program.asks if ask.rule.id in selected}
        self._due: dict[tuple[str, bool], frozenset[str]] = {}

    def version(self) -> EngineVersion:
        """OPA's own version, and what was loaded into it: source, shape, dialects."""
        hello = self._evaluator.hello()
        return EngineVersion(
            name="opa",
            version=hello.opa,
            binary_sha256=self._evaluator.binary_sha256(),
            details={"go": hello.go, "platform": hello.platform, **self._program.facts},
        )

    def rules(self) -> tuple[Rule, ...]:
        """The selected rules of the program."""
        return tuple(ask.rule for ask in self._asks.values())

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order."""
        del cluster
        layout = self._program.inventory
        if layout is InventoryLayout.BY_KIND:
            self._evaluator.set_inventory(inventory)
        elif layout is InventoryLayout.GATEKEEPER:
            self._evaluator.set_inventory(gatekeeper_inventory(inventory))
        return self._answers(objects)

    def close(self) -> None:
        """Stop the child."""
        self._evaluator.close()

    def _answers(self, objects: Iterable[CollectedObject]) -> Iterator[list[PairAnswer]]:
        waiting: collections.deque[SubjectRef] = collections.deque()

        def sent() -> Iterator[tuple[str, bytes]]:
            for item in objects:
                ref = item.ref
                waiting.append(ref)
                yield derived_key(ref.kind_key) if ref.derived else ref.kind_key, item.raw

        for answers in self._evaluator.evaluate(sent()):
            ref = waiting.popleft()
            due = self._due_for(ref)
            yield [self._told(answer, ref) for answer in answers if answer.rule in due]

    def _due_for(self, ref: SubjectRef) -> frozenset[str]:
        key = (ref.kind_key, ref.derived)
        due = self._due.get(key)
        if due is None:
            due = self._due[key] = frozenset(
                id_
                for id_, ask in self._asks.items()
                if ask.rule.matches(ref.kind_key) and (not ref.derived or ask.rule.match_derived)
            )
        return due

    def _told(self, answer: PairAnswer, ref: SubjectRef) -> PairAnswer:
        """The answer in the words of the policy's own tool, with its own exception taken out of the violations."""
        outcome = answer.outcome
        if outcome is Outcome.PASS and UNRESOLVED_DATA in self._asks[answer.rule].rule.caveats:
            # A part of the rule could not fire, whatever the object: that nothing was found says nothing.
            return msgspec.structs.replace(
                answer,
                outcome=Outcome.ERROR,
                reason="undefined",
                message="the policy reads data that nothing defines, so a pass would mean nothing: not evaluated",
            )
        if outcome is Outcome.PASS or outcome is Outcome.SKIP:
            return answer
        if outcome is Outcome.ERROR:
            return _explained(answer, self._asks[answer.rule])
        caveats = self._caveats(ref)
        accepted = _accepted_by(answer.violations)
        if not accepted:
            return msgspec.structs.replace(answer, caveats=caveats) if caveats else answer
        violations = tuple(msgspec.structs.replace(v, expected=None) for v in answer.violations)
        by = f"{answer.rule.partition(':')[0]}:{accepted}"
        return msgspec.structs.replace(answer, violations=violations, accepted_by=by, caveats=caveats)

    def _caveats(self, ref: SubjectRef) -> tuple[str, ...]:
        shown = self._program.synthetic or self._program.inventory in _SHOWS_NAMESPACES
        return (NAMESPACE_ASSUMED,) if shown and not ref.namespace and is_namespaced(ref.kind_key) else ()


def _explained(answer: PairAnswer, ask: ForeignAsk) -> PairAnswer:
    message = answer.message
    if answer.reason == "undefined":
        message = ask.unmatched if message == _UNMATCHED and ask.unmatched else ask.undefined
    elif answer.reason == "bad_answer" and ask.bad_answer:
        message = f"{ask.bad_answer} ({message})"
    return msgspec.structs.replace(answer, message=message)


def _accepted_by(violations: tuple[Violation, ...]) -> str:
    for violation in violations:
        if isinstance(violation.expected, dict) and ACCEPTED_KEY in violation.expected:
            return str(violation.expected[ACCEPTED_KEY])
    return ""


def gatekeeper_inventory(inventory: bytes) -> bytes:
    """``data.inventory`` as Gatekeeper lays it out: ``cluster`` and ``namespace`` trees.

    Objects of built-in namespaced kinds whose manifest leaves the namespace unset stand in ``default``, as on a server.
    """
    cluster: dict[str, Any] = {}
    namespaces: dict[str, Any] = {}
    for key, buckets in json.loads(inventory).items():
        namespaced = is_namespaced(key)
        for namespace, objects in buckets.items():
            place = namespace or ("default" if namespaced else "")
            for item in objects:
                tree = namespaces.setdefault(place, {}) if place else cluster
                version = tree.setdefault(str(item.get("apiVersion", "")), {})
                name = str((item.get("metadata") or {}).get("name", ""))
                version.setdefault(str(item.get("kind", "")), {})[name] = _placed(item, place)
    return json.dumps({"cluster": cluster, "namespace": namespaces}).encode()


def _placed(item: dict[str, Any], namespace: str) -> dict[str, Any]:
    metadata = item.get("metadata") or {}
    if not namespace or metadata.get("namespace") == namespace:
        return item
    return {**item, "metadata": {**metadata, "namespace": namespace}}
