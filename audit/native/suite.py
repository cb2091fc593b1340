"""Running Rego test rules, in the child: compiled together, evaluated on all cores, each within its own limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from audit.errors import EngineError
from audit.native.child import ChildDiedError
from audit.native.evaluator import EvalLimits, ModuleInfo, Problem
from audit.native.frames import Kind, Message
from audit.native.owner import ChildOwner

_ITEM_BYTES = 3_000
"""What a test counts for in a batch: small batches tell early, and lose little when the child dies."""


class RegoTest(msgspec.Struct, frozen=True):
    """One test rule."""

    package: str
    name: str
    file: str
    line: int
    todo: bool
    """Put off by its author (``todo_test_``)."""
    lost: str
    """File without which it cannot be run, because that one does not compile; empty when it can be."""
    unknown: tuple[str, ...]
    """References of the test that are defined nowhere."""


class SuiteReport(msgspec.Struct, frozen=True):
    """What came of compiling a set of modules. Problems cost the modules they are in, and those that need them."""

    modules: tuple[ModuleInfo, ...]
    tests: tuple[RegoTest, ...]
    problems: tuple[Problem, ...]


class TableCase(msgspec.Struct, frozen=True):
    """One row of a test that is a table."""

    path: tuple[str, ...]
    fail: bool


class RegoVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one test."""

    value: str = ""
    """``true``, ``false``, ``undefined`` or ``other``; empty when `code` says why there is none."""
    cases: tuple[TableCase, ...] | None = None
    """Rows of a table; None for other tests."""
    code: str = ""
    message: str = ""
    builtin_errors: tuple[str, ...] | None = None
    """Builtins that failed on the way: what asked for them was undefined."""
    printed: str = ""
    printed_cut: bool = False
    ns: int = 0


class FileLines(msgspec.Struct, frozen=True):
    """Lines of one file that tests reached, and those they did not."""

    covered: tuple[int, ...]
    not_covered: tuple[int, ...]


class _Answer(msgspec.Struct, frozen=True):
    tests: tuple[RegoVerdict, ...]
    coverage: dict[str, FileLines] | None


class SuiteRunner(ChildOwner):
    """Runs the tests of one set of modules in one child.

    Args:
        jobs: cores to use.
        limits: what one test may cost.
        coverage: also note which lines are reached.
    """

    def __init__(self, *, jobs: int, limits: EvalLimits | None = None, coverage: bool = False) -> None:
        self._limits = limits or EvalLimits()
        super().__init__(
            "eval",
            jobs=jobs,
            memory_bytes=self._limits.memory_bytes,
            item_seconds=self._limits.object_seconds,
        )
        self._coverage = coverage
        self._suite: bytes | None = None
        self.reached: dict[str, set[int]] = {}
        """Lines reached so far, by module."""
        self.countable: dict[str, set[int]] = {}
        """Lines that could be reached, by module."""

    def _told_first(self) -> Iterable[tuple[Kind, bytes]]:
        return () if self._suite is None else ((Kind.SUITE, self._suite),)

    def load(self, modules: Mapping[str, str], data: bytes = b"{}") -> SuiteReport:
        """Compile modules and list their tests.

        Args:
            modules: path to source.
            data: JSON object that they see as ``data``.

        Raises:
            EngineError: the compiler ended the child.
        """
        payload = msgspec.json.encode(
            {
                "modules": modules,
                "data": msgspec.Raw(data),
                "limit_ms": int(self._limits.object_seconds * 1000),
                "coverage": self._coverage,
            }
        )
        self._suite = None
        try:
            report = msgspec.json.decode(self._supervisor.call(Kind.SUITE, payload), type=SuiteReport)
        except ChildDiedError as death:
            self._supervisor.close()
            raise EngineError(f"the embedded engine ended: {death}") from death
        self._suite = payload
        return report

    def run(self, tests: Iterable[RegoTest]) -> Iterator[RegoVerdict]:
        """Verdicts in the order of the tests; a test that ends the child costs itself.

        Raises:
            EngineError: nothing is loaded.
        """
        if self._suite is None:
            raise EngineError("no tests are loaded")
        yield from self._supervisor.run(_Work(self), tests)

    def note(self, coverage: Mapping[str, FileLines]) -> None:
        """Add lines that a batch reached."""
        for file, lines in coverage.items():
            self.reached.setdefault(file, set()).update(lines.covered)
            self.countable.setdefault(file, set()).update(lines.covered, lines.not_covered)


class _Work:
    """Tests to verdicts."""

    kind = Kind.TESTS
    last = RegoVerdict

    def __init__(self, runner: SuiteRunner) -> None:
        self._runner = runner
        self._decoder = msgspec.json.Decoder(_Answer)

    def size(self, item: RegoTest) -> int:
        del item
        return _ITEM_BYTES

    def encode(self, items: Sequence[RegoTest]) -> bytes:
        return msgspec.json.encode(
            {"tests": [{"package": item.package, "name": item.name} for item in items]}
        )

    def decode(self, message: Message, items: Sequence[RegoTest]) -> Iterator[RegoVerdict]:
        del items
        if message.kind != Kind.DONE:
            return
        answer = self._decoder.decode(message.payload)
        if answer.coverage is not None:
            self._runner.note(answer.coverage)
        yield from answer.tests

    def give_up(self, item: RegoTest, reason: str) -> RegoVerdict:
        del item
        return RegoVerdict(code="engine_failed", message=reason)
