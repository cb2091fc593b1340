"""The seams of the pipeline: four protocols, each with a contract suite under tests/contract."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from audit.model.finding import PairAnswer
from audit.model.gap import Gap, Notice
from audit.model.result import AssessmentResult
from audit.model.rule import Rule
from audit.model.run import EngineVersion, InputFile
from audit.model.subject import SubjectRef
from audit.native.events import DuplicateKey, Fault, Redaction


class CollectedObject(msgspec.Struct, frozen=True, kw_only=True):
    """A normalised subject with its redacted JSON bytes; positions are resolved later, on request."""

    ref: SubjectRef
    raw: bytes
    duplicates: tuple[DuplicateKey, ...] = ()
    faults: tuple[Fault, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    projection: bytes = b""
    """JSON of the fields that context rules need of this kind; empty when none does."""
    controller: tuple[str, str] | None = None
    """(kind, name) of the controlling owner, from ownerReferences."""


class ScopeChoice(msgspec.Struct, frozen=True):
    """Something chosen that decides what is looked at: a glob, an ignore file, a file left out. Part of the scope digest."""

    text: str
    """Equal on every machine."""


class SubjectSource(Protocol):
    """What is there? Yields objects, gaps, notices, choices and the files read, in a deterministic order."""

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | ScopeChoice | InputFile]:
        """Stream everything once. A gap about an object comes right behind it."""
        ...


class Engine(Protocol):
    """Evaluates rules of one language. Answers come in the order asked, one list per subject."""

    def version(self) -> EngineVersion:
        """Exact version of what decides."""
        ...

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """Ask every loaded rule that matches each object's kind; `inventory` is the cluster's context as JSON."""
        ...

    def rules(self) -> tuple[Rule, ...]:
        """The rules this engine answers for."""
        ...

    def close(self) -> None:
        """Stop processes."""
        ...


class ReportWriter(Protocol):
    """Renders one result into a folder."""

    name: str
    """Format name on the command line, for example ``html``."""

    def write(self, result: AssessmentResult, folder: Path) -> list[Path]:
        """Write atomically; return the paths written."""
        ...

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the whole report to one open stream, never split."""
        ...


class MemberContext(Protocol):
    """Watches the objects of one cluster go by; see `audit.normalise.context`."""

    @property
    def overflowed(self) -> bool:
        """The inventory went over its bound and is not whole."""
        ...

    def see(self, item: CollectedObject) -> None:
        """Take note of one object."""
        ...

    def inventory(self) -> bytes:
        """What context rules may see, as JSON."""
        ...

    def derived(self) -> Iterator[CollectedObject]:
        """Subjects that no document declares."""
        ...


class PolicyNotes(Protocol):
    """Takes note of the policies of one cluster; see `audit.consistency.book`."""

    def see(self, item: CollectedObject) -> None:
        """An object goes by."""
        ...

    def leave_out(self, ref: SubjectRef) -> None:
        """A subject is left out by the owner."""
        ...


class ProofSink(Protocol):
    """Counts what came in, and what became of it; see `audit.record.proof`."""

    def see_input(self, file: InputFile) -> None:
        """A file was read to its end."""
        ...

    def see_gap(self, gap: Gap) -> None:
        """Something was not read."""
        ...

    def see_notice(self, notice: Notice) -> None:
        """Something was read that is no object, or left out on purpose."""
        ...

    def see_subject(self, ref: SubjectRef) -> None:
        """A subject is handed to the rules."""
        ...

    def see_choice(self, cluster: str, choice: ScopeChoice) -> None:
        """What is looked at depends on it."""
        ...

    def see_out_of_scope(self, ref: SubjectRef, reason: str) -> None:
        """A subject is left out by the owner."""
        ...


class ProgressSink(Protocol):
    """Where long work says how far it is. Called often, so implementations must be cheap."""

    def stage(self, name: str, total: int | None) -> None:
        """Begin a stage; `total` is None when it cannot be known."""
        ...

    def advance(self, number: int = 1) -> None:
        """Count finished units of the current stage."""
        ...

    def note(self, text: str) -> None:
        """Say something that is neither a finding nor a gap."""
        ...


class StopSignal(Protocol):
    """Asked between units of work; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """True once the run should end with what it has."""
        ...


class Clock(Protocol):
    """Now, handed in so that results are reproducible."""

    def now(self) -> dt.datetime:
        """Aware, UTC."""
        ...
