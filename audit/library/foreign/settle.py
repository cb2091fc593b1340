"""Compiling one program: what does not compile costs itself and the rules that need it, and is said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from audit.library.foreign.module import Graph, Module, Node
from audit.model.foreign import ForeignAsk
from audit.model.gap import Gap, GapKind
from audit.native.evaluator import EvalRule, Evaluator, Problem

_MAX_ROUNDS = 50


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A rule to ask, before it is known whether it compiles."""

    ask: ForeignAsk
    adapter: str
    """Rego of its adapter module."""
    roots: tuple[Node, ...]
    """What the adapter asks, by the names the source uses."""
    scope: str = ""
    """Modules with this scope are all it can see; empty means the whole source."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What is left."""

    modules: tuple[Module, ...]
    wanted: tuple[Wanted, ...]
    gaps: tuple[Gap, ...]
    dialects: dict[str, str]
    """Module key to v0 or v1."""


def settle(
    evaluator: Evaluator,
    modules: Sequence[Module],
    wanted: Sequence[Wanted],
    *,
    support: Mapping[str, str],
    data: Mapping[str, Any],
    source: str,
    scopes: Mapping[str, str] | None = None,
) -> Settled:
    """Compile until nothing is wrong any more, leaving out what is.

    Args:
        evaluator: a started native engine; its program is replaced.
        modules: of the source, unbroken or not.
        wanted: the rules to ask.
        support: what the adapters stand on, by label; it is ours and compiles.
        data: below ``data``.
        source: label for errors that have no file.
        scopes: module key to its scope, for sources whose parts never see each other.
    """
    worker = _Worker(evaluator, support, data, source, scopes or {})
    return worker.settle(list(modules), list(wanted))


def adapter_key(ask: ForeignAsk) -> str:
    """Module name of an adapter."""
    return f"adapter of {ask.rule.id}"


class _Worker:
    def __init__(
        self,
        evaluator: Evaluator,
        support: Mapping[str, str],
        data: Mapping[str, Any],
        source: str,
        scopes: Mapping[str, str],
    ) -> None:
        self._evaluator = evaluator
        self._support = support
        self._data = msgspec.json.encode(data)
        self._source = source
        self._scopes = scopes
        self._gaps: dict[str, tuple[Problem, Module, list[str]]] = {}
        self._other: list[Gap] = []

    def settle(self, modules: list[Module], wanted: list[Wanted]) -> Settled:
        parsed = self._evaluator.inspect({part.key: part.text for part in modules})
        dialects = {package.file: package.dialect for package in parsed.packages}
        modules, wanted = self._drop(parsed.problems, modules, wanted)
        for _ in range(_MAX_ROUNDS):
            report = self._evaluator.load(
                {part.key: part.text for part in modules}
                | {adapter_key(one.ask): one.adapter for one in wanted}
                | dict(self._support),
                self._data,
                [EvalRule(id=one.ask.rule.id, package=one.ask.package) for one in wanted],
            )
            if not report.problems:
                break
            before = (len(modules), len(wanted))
            modules, wanted = self._drop(report.problems, modules, wanted)
            if (len(modules), len(wanted)) == before:
                self._give_up(report.problems[0])
                modules, wanted = [], []
        return Settled(
            modules=tuple(modules),
            wanted=tuple(wanted),
            gaps=tuple(self._finish()),
            dialects={part.key: dialects[part.key] for part in modules if part.key in dialects},
        )

    def _drop(
        self, problems: Sequence[Problem], modules: list[Module], wanted: list[Wanted]
    ) -> tuple[list[Module], list[Wanted]]:
        by_key = {part.key: part for part in modules}
        broken: dict[str, Problem] = {}
        for problem in problems:
            if problem.file in by_key:
                broken.setdefault(problem.file, problem)
        refused = {problem.file: problem for problem in problems if problem.file not in by_key}
        graph = Graph(modules)
        lost: list[str] = []
        for key, problem in sorted(broken.items()):
            part = by_key[key]
            cause = self._cause(part)
            names = [one.ask.rule.id for one in wanted if self._needs(one, part, graph)]
            lost += names
            if cause is None:
                self._gaps[key] = (problem, part, names)
            else:
                self._gaps[cause][2].extend([*names, f"(file) {part.file}"])
        kept: list[Wanted] = []
        for one in wanted:
            refusal = refused.get(adapter_key(one.ask))
            if refusal is not None:
                self._other.append(self._gap(one.ask.rule.file, refusal.message, one.ask.rule.line))
            elif one.ask.rule.id not in lost:
                kept.append(one)
        return [part for part in modules if part.key not in broken], kept

    def _cause(self, part: Module) -> str | None:
        """The broken module whose absence broke this one too."""
        for key, (_, gone, _) in self._gaps.items():
            if self._seen_from(key, part.key) and _uses(part, gone):
                return key
        return None

    def _needs(self, one: Wanted, gone: Module, graph: Graph) -> bool:
        """Whether a rule has to do with a module: defined there, or using what is defined there."""
        if one.scope and self._scopes.get(gone.key, "") not in ("", one.scope):
            return False
        for root in one.roots:
            for node, statements in graph.reachable(root).items():
                inside = any(owner.key == gone.key for owner, _ in statements)
                elsewhere = any(owner.key != gone.key for owner, _ in statements)
                # A decision that other files define too goes on without this file's part, which is the gap.
                if inside and not (node == root and elsewhere):
                    return True
        return False

    def _seen_from(self, one: str, other: str) -> bool:
        return self._scopes.get(one, "") in ("", self._scopes.get(other, ""))

    def _give_up(self, problem: Problem) -> None:
        self._other.append(self._gap(problem.file or self._source, problem.message, problem.line or None))

    def _finish(self) -> list[Gap]:
        gaps = list(self._other)
        for problem, part, lost in self._gaps.values():
            reason = problem.message
            if lost:
                reason += f"; {_without(lost)}"
            gaps.append(self._gap(part.file, reason, part.line(problem.line) if problem.line else None))
        return gaps

    def _gap(self, file: str, reason: str, line: int | None) -> Gap:
        return policy_gap(file, reason, line=line)


def policy_gap(source: str, reason: str, *, line: int | None = None, hint: str = "") -> Gap:
    """A policy that is missing hides no object (no kinds); its own rules are not there."""
    return Gap(
        kind=GapKind.POLICY,
        cluster="",
        source=source,
        reason=reason,
        line=line,
        kinds=(),
        hint=hint or "mend the policy; `fleetaudit validate` shows every error",
    )


def _uses(part: Module, gone: Module) -> bool:
    """Whether a module reads names that a module which is gone defines."""
    defined = gone.outline.defined()
    for statement in part.outline.statements:
        if part.package == gone.package and statement.names & defined:
            return True
        for reference in statement.references:
            steps = reference.path[1:]
            if reference.path[0] == "data" and steps[: len(gone.package)] == gone.package:
                return True
    return any(
        path[:1] == ("data",) and path[1 : 1 + len(gone.package)] == gone.package
        for path in part.outline.imports.values()
    )


def _without(lost: Sequence[str]) -> str:
    shown = ", ".join(sorted(dict.fromkeys(lost))[:5])
    more = len(set(lost)) - 5
    return f"left out with it: {shown}" + (f" and {more} more" if more > 0 else "")
