"""What is tested, and what came of it."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from audit.errors import AuditError


class SuiteKind(enum.Enum):
    """Whose format a suite is written in."""

    REGO = "rego"
    """OPA's test rules."""
    GATEKEEPER = "gatekeeper"
    """``Suite`` of test.gatekeeper.sh."""
    KYVERNO = "kyverno"
    """``kyverno-test.yaml``."""


class CaseOutcome(enum.Enum):
    """What came of one case. A closed set."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    """It could not be run, or not to its end."""
    NOT_EVALUATED = "not_evaluated"
    """Nothing looked at what the case is about, whatever its own tool says of it."""
    SKIPPED = "skipped"
    """Its author put it off."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a suite expects, and what came of it."""

    kind: SuiteKind
    suite: str
    """Its file, as the user knows it."""
    name: str
    outcome: CaseOutcome
    reason: str = ""
    """Machine-readable; every outcome but a pass has one."""
    message: str = ""
    hint: str = ""
    """What to do about it."""
    file: str = ""
    """Where it is written, or what is at fault."""
    line: int | None = None
    seconds: float | None = None
    output: str = ""
    """What the test itself printed."""

    @property
    def id(self) -> str:
        """``suite::name``: what ``--run`` looks at."""
        return f"{self.suite}::{self.name}"

    @property
    def place(self) -> str:
        """``file:line`` with the parts that are known."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file

    @property
    def good(self) -> bool:
        """Nothing to be done about it."""
        return self.outcome in (CaseOutcome.PASS, CaseOutcome.SKIPPED)


def broken(kind: SuiteKind, suite: str, name: str, error: AuditError, *, reason: str) -> Case:
    """A case that an error keeps from being run."""
    key = f"{error.key}: " if error.key else ""
    return Case(
        kind=kind,
        suite=suite,
        name=name,
        outcome=CaseOutcome.ERROR,
        reason=reason,
        message=f"{key}{error.message}",
        hint=error.suggestion or "",
        file=error.file or suite,
        line=error.line,
    )


class LineCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of one Rego file that its tests reached."""

    file: str
    covered: tuple[int, ...]
    missed: tuple[int, ...]

    @property
    def share(self) -> float:
        """Of the lines that can be reached, from 0 to 1; 1 when there is none."""
        total = len(self.covered) + len(self.missed)
        return len(self.covered) / total if total else 1.0


class TestReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that came of one command."""

    __test__ = False  # pytest takes classes of this name for its own

    cases: tuple[Case, ...]
    coverage: tuple[LineCoverage, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing and no case's own."""
    engines: Mapping[str, str] = {}
    """What answered, with its version."""
    seconds: float = 0.0
    stopped: bool = False
    """The run ended at the first case that was neither passed nor skipped, as it was asked to."""

    def counts(self, kind: SuiteKind | None = None) -> Mapping[CaseOutcome, int]:
        """Cases by outcome, of one kind of suite or of all."""
        return tally(case for case in self.cases if kind is None or case.kind is kind)

    def suites(self, kind: SuiteKind) -> int:
        """Files with cases of this kind."""
        return len({case.suite for case in self.cases if case.kind is kind})


def tally(cases: Iterable[Case]) -> Mapping[CaseOutcome, int]:
    """Cases by outcome; every outcome is there."""
    counted = Counter(case.outcome for case in cases)
    return {outcome: counted[outcome] for outcome in CaseOutcome}
