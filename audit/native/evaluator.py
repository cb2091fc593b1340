"""Asking Rego rules about objects, in the child."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.errors import ContentError, EngineError
from audit.model.finding import PairAnswer
from audit.native.asking import Asking, EvalRule
from audit.native.binary import Hello, binary_sha256, find_binary
from audit.native.child import ChildDiedError
from audit.native.frames import Kind
from audit.native.owner import ChildOwner

__all__ = [
    "EvalLimits",
    "EvalRule",
    "Evaluator",
    "Inspection",
    "LoadReport",
    "ModuleInfo",
    "PackageInfo",
    "Problem",
    "QueryResult",
    "RuleTrace",
]


class EvalLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What asking all rules about one object may cost."""

    object_seconds: float = 5.0
    memory_bytes: int = 2 << 30
    """Resident memory of the child."""


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with authored Rego."""

    file: str
    line: int
    column: int
    code: str
    """OPA's code (``rego_parse_error``, ``rego_type_error``, ...), or ``refused_builtin``, ``missing_rule``,
    ``bad_package``, ``bad_data``, ``unknown_allowance``."""
    message: str

    def error(self) -> ContentError:
        """The same as an exception."""
        return ContentError(
            self.message, file=self.file or None, line=self.line or None, column=self.column or None
        )


class PackageInfo(msgspec.Struct, frozen=True):
    """One package clause in one file."""

    package: str
    file: str
    line: int
    dialect: str
    """``v1`` or ``v0``, found out per file."""
    annotations: dict[str, Any] | None
    """The package's METADATA block; None when it has none."""
    rules: tuple[str, ...]
    """Names of the rules in the file, sorted."""


class Inspection(msgspec.Struct, frozen=True):
    """What was found in a set of modules."""

    packages: tuple[PackageInfo, ...]
    problems: tuple[Problem, ...]


class ModuleInfo(msgspec.Struct, frozen=True):
    """A module as it was loaded."""

    file: str
    package: str
    dialect: str


class LoadReport(msgspec.Struct, frozen=True):
    """What came of loading. With problems, nothing can be evaluated."""

    modules: tuple[ModuleInfo, ...]
    problems: tuple[Problem, ...]

    def check(self) -> None:
        """Raise the first problem, if there is one.

        Raises:
            ContentError: with its place.
        """
        if self.problems:
            raise self.problems[0].error()


class QueryResult(msgspec.Struct, frozen=True):
    """Result set of a free query, or its error."""

    results: list[dict[str, Any]] | None
    code: str
    message: str


class RuleTrace(msgspec.Struct, frozen=True):
    """How one rule came to its answer about one object."""

    trace: str
    """The evaluation step by step, as OPA prints it."""
    cut: bool
    """True when the trace was too long to show whole."""
    covered: dict[str, tuple[int, ...]] | None
    """Lines of the rule's own files that were evaluated."""
    code: str
    """Error code, empty when the evaluation went through."""
    message: str


class Evaluator(ChildOwner):
    """Evaluates one set of rules in one child.

    Args:
        jobs: cores to use.
        limits: what one object may cost.
        allow_builtins: names of refused builtins to allow after all.
    """

    def __init__(
        self, *, jobs: int, limits: EvalLimits | None = None, allow_builtins: Sequence[str] = ()
    ) -> None:
        self._limits = limits or EvalLimits()
        super().__init__(
            "eval",
            jobs=jobs,
            memory_bytes=self._limits.memory_bytes,
            item_seconds=self._limits.object_seconds,
        )
        self._allow = tuple(allow_builtins)
        self._program: bytes | None = None
        self._inventory: bytes | None = None
        self._rules: tuple[EvalRule, ...] = ()

    def hello(self) -> Hello:
        """What the child says it is."""
        return self._supervisor.child.hello

    def binary_sha256(self) -> str:
        """Digest of the program that runs."""
        return binary_sha256(find_binary())

    def _told_first(self) -> Iterable[tuple[Kind, bytes]]:
        known = ((Kind.LOAD, self._program), (Kind.INVENTORY, self._inventory))
        return tuple((kind, payload) for kind, payload in known if payload is not None)

    def inspect(self, modules: Mapping[str, str]) -> Inspection:
        """Packages and METADATA of modules (path to source), parsed but not compiled.

        Raises:
            EngineError: the parser ended the child.
        """
        payload = msgspec.json.encode({"modules": modules})
        return msgspec.json.decode(self._call(Kind.INSPECT, payload), type=Inspection)

    def load(
        self,
        modules: Mapping[str, str],
        data: bytes,
        rules: Sequence[EvalRule],
        *,
        now_ns: int | None = None,
        strict: bool = False,
    ) -> LoadReport:
        """Compile modules once and get ready to ask `rules`.

        Args:
            modules: path to source.
            data: JSON object that rules see as ``data`` (``parameters``, ``pod_templates``, ...).
            rules: what to ask; answers come in this order.
            now_ns: the moment that every evaluation sees, in nanoseconds since 1970; the present by default. Only
                builtins that check dates read it, and ``time.now_ns`` where it is allowed.
            strict: a failed builtin is an error, and a reference to what is defined nowhere is a problem. OPA itself
                takes both for undefined, and a rule that lists violations then finds none.

        Raises:
            EngineError: the compiler ended the child.
        """
        payload = msgspec.json.encode(
            {
                "modules": modules,
                "data": msgspec.Raw(data),
                "rules": [
                    {"id": r.id, "package": r.package, "kinds": r.kinds, "warn_only": r.warn_only}
                    for r in rules
                ],
                "allow_builtins": self._allow,
                "object_ms": int(self._limits.object_seconds * 1000),
                "now_ns": time.time_ns() if now_ns is None else now_ns,
                "strict": strict,
            }
        )
        report = msgspec.json.decode(self._call(Kind.LOAD, payload), type=LoadReport)
        if not report.problems:
            self._program, self._rules, self._inventory = payload, tuple(rules), None
        return report

    def set_inventory(self, inventory: bytes) -> None:
        """Replace ``data.inventory`` by this JSON object.

        Raises:
            EngineError: nothing is loaded, or this is no JSON object.
        """
        self._call(Kind.INVENTORY, inventory)
        self._inventory = inventory

    def _call(self, kind: Kind, payload: bytes) -> bytes:
        try:
            return self._supervisor.call(kind, payload)
        except ChildDiedError as death:
            self._supervisor.close()
            raise EngineError(f"the embedded engine ended: {death}") from death

    def evaluate(self, objects: Iterable[tuple[str, bytes]]) -> Iterator[list[PairAnswer]]:
        """For each (kind key, JSON) one answer per rule of that kind, in order. Do not change the lists.

        Raises:
            EngineError: nothing is loaded.
        """
        if self._program is None:
            raise EngineError("no rules are loaded")
        yield from self._supervisor.run(Asking(self._rules), objects)

    def trace(self, rule: str, raw: bytes) -> RuleTrace:
        """Evaluate one loaded rule on one object once more, step by step, with the lines reached.

        Raises:
            EngineError: nothing is loaded.
        """
        payload = msgspec.json.encode({"rule": rule, "input": raw.decode()})
        return msgspec.json.decode(self._call(Kind.TRACE, payload), type=RuleTrace)

    def query(self, request: Mapping[str, Any]) -> QueryResult:
        """Evaluate a free query with its own modules. The conformance suite's way in.

        Args:
            request: ``query``, and optionally ``modules`` (list of sources), ``data``, ``input`` (JSON values or
                `msgspec.Raw`), ``input_term`` (Rego), ``v0``, ``strict``, ``limit_ms``, and ``all_builtins``
                for the ones that are refused otherwise.
        """
        payload = msgspec.json.encode({"limit_ms": int(self._limits.object_seconds * 1000), **request})
        return msgspec.json.decode(self._call(Kind.QUERY, payload), type=QueryResult)
