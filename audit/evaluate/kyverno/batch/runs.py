"""Runs of the batch child that look like runs of the CLI, held against the CLI's.

Every twentieth object or so, and every object of a policy that raised an error, is judged by both. What the child can't do
exactly is the CLI's alone.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from audit.errors import EngineError
from audit.evaluate.kyverno.batch.compare import DISPUTED, agreed
from audit.evaluate.kyverno.batch.fitness import is_left, why_left
from audit.evaluate.kyverno.batch.judge import (
    STRIKES,
    BatchJudge,
    CanaryError,
    Judged,
    LoadReport,
    source_of,
)
from audit.evaluate.kyverno.batch.program import TITLE
from audit.evaluate.kyverno.capabilities import Capabilities, capabilities_of
from audit.evaluate.kyverno.handover import subject_document
from audit.evaluate.kyverno.process import KILLED
from audit.evaluate.kyverno.report_stream import Row
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.run import ABORT, Attempt, CliRuns, Effort, Loss, RunRequest
from audit.evaluate.kyverno.subjects import Subject
from audit.model.gap import Notice
from audit.model.kyverno import KyvernoPolicy
from audit.model.run import EngineVersion
from audit.native.binary import Program, binary_sha256, said_by
from audit.native.child import ChildDiedError

COMPARED = "kyverno_compared"
UNCOMPARED = "kyverno_uncompared"
LEFT = "kyverno_left_to_cli"
COMPARE_EVERY = 20
"""One object of so many is judged by both."""
_GIVEN_UP = "given_up"


class BatchRuns:
    """Stands where `CliRuns` stands; thread-safe.

    Args:
        program: the child's.
        cli: runs of the CLI, the reference; None when there is none.
        folder: for temporary files.
        request: what the user says about the simulated request.
        effort: bounds.
        jobs: cores the child may use.
        compare_every: one object of so many is judged by both.
        missing: why there is no CLI.

    Raises:
        EngineError: the child does not run.
    """

    def __init__(
        self,
        program: Program,
        cli: CliRuns | None,
        folder: Path,
        request: Request,
        effort: Effort,
        *,
        jobs: int,
        compare_every: int = COMPARE_EVERY,
        missing: str = "",
    ) -> None:
        self.request = request
        self.folder = folder
        self.hello = said_by(program)
        self._program = program
        self._cli = cli
        self._effort = effort
        self._every = compare_every
        self._missing = missing or "there is no Kyverno CLI"
        self._nonce = secrets.token_hex(8)
        scratch = folder / "batch"
        scratch.mkdir()
        environment = {**program.environment, "TMPDIR": str(scratch), "HOME": str(scratch)}
        self._judge = BatchJudge(
            msgspec.structs.replace(program, environment=environment),
            jobs=jobs,
            memory_bytes=effort.memory_bytes,
            pair_seconds=effort.pair_seconds,
            nonce=self._nonce,
        )
        self._lock = threading.Lock()
        self._left: dict[str, str] = {}
        self._raised: set[str] = set()
        self._alone: Counter[str] = Counter()
        """Pairs judged by the child alone, by key of the policy."""
        self._late: Counter[str] = Counter()
        self._compared = self._disputed = 0

    @property
    def capabilities(self) -> Capabilities:
        """Of the Kyverno inside."""
        major, minor, *_ = (int(part) for part in self.hello.kyverno.split("-")[0].split("."))
        found = capabilities_of((major, minor, 0))
        assert found is not None  # noqa: S101  # the child was never made with an older one
        return found

    @property
    def child_pid(self) -> int | None:
        """Process id of the batch child, if it runs."""
        return self._judge.pid

    @property
    def started(self) -> int:
        """Processes of the CLI started so far."""
        return self._cli.started if self._cli else 0

    def engine_version(self) -> EngineVersion:
        """The Kyverno inside the child, and what it is compared with."""
        details = {"interface": "batch child"}
        if self._cli is None:
            details["reference"] = "none"
        else:
            cli = self._cli.engine_version()
            details |= {"reference": f"Kyverno CLI {cli.version}", "reference_sha256": cli.binary_sha256}
        return EngineVersion(
            name="kyverno",
            version=self.hello.kyverno,
            binary_sha256=binary_sha256(self._program.path),
            details=details,
        )

    def stop(self) -> None:
        """Kill everything that runs."""
        self._judge.stop()
        if self._cli is not None:
            self._cli.stop()
        self._judge.close()

    def notices(self) -> tuple[Notice, ...]:
        """How far the child was compared with the CLI, and what was left to the CLI."""
        found = []
        alone = sum(self._alone.values())
        if self._cli is None:
            message = f"{alone} answers of {self._name} were not compared with the CLI: {self._missing}"
            found.append(Notice(source="kyverno", code=UNCOMPARED, message=message))
        elif alone or self._compared:
            message = (
                f"{self._name} gave {alone + self._compared} answers; {self._compared} of them were asked of "
                f"the Kyverno CLI too, and {self._disputed} differed"
            )
            found.append(Notice(source="kyverno", code=COMPARED, message=message))
        for key, number in sorted(self._late.items()):
            name = key.partition(":")[2]
            message = f"{name} raised an error after {number} answers that were not compared with the CLI"
            found.append(Notice(source="kyverno", code=UNCOMPARED, message=message))
        for key, reason in sorted(self._left.items()):
            name = key.partition(":")[2]
            found.append(
                Notice(source="kyverno", code=LEFT, message=f"{name} is left to the Kyverno CLI: {reason}")
            )
        return tuple(found)

    @property
    def _name(self) -> str:
        return f"{TITLE} {self.hello.kyverno}"

    def refuses(self, policy: KyvernoPolicy) -> str:
        """Why the child does not judge by a policy, in words; empty when it does."""
        return why_left(policy, self.request) if policy.document else ""

    def attempt(self, request: RunRequest) -> Attempt:
        """What `CliRuns.attempt` would give."""
        if self._cli is not None and (request.trial or request.diagnose):
            return self._cli.attempt(request)
        try:
            return self._attempt(request)
        except EngineError as error:
            return self._failed(ABORT, error.message)
        except ChildDiedError as death:
            return self._failed(KILLED, str(death))
        except CanaryError as error:
            return self._failed(ABORT, str(error))

    def _failed(self, code: str, reason: str) -> Attempt:
        return Attempt(ok=False, code=code, reason=reason, who=TITLE)

    def _attempt(self, request: RunRequest) -> Attempt:
        asked = self._chosen(request)
        if request.trial:
            return asked.trial()
        ours = self._judged(request, asked)
        if self._cli is None:
            self._count_alone(asked, ours)
            return ours.attempt(asked)
        with self._lock:
            raised = [p for p in asked.done if p.key in self._raised or ours.raised(asked, p)]
        both = [
            place
            for place, subject in enumerate(request.subjects)
            if is_sampled(subject, self._every) or is_left(request.family, subject, request.surroundings)
        ]
        rest = sorted(set(range(len(request.subjects))) - set(both))
        runs = [
            (rest, [*asked.left, *raised]),
            (both, [*asked.left, *asked.done]),
        ]
        for places, policies in runs:
            if not policies or (not places and not (asked.left and not request.subjects)):
                continue
            chosen = [request.subjects[place] for place in places]
            theirs = self._cli.attempt(msgspec.structs.replace(request, subjects=chosen, policies=policies))
            if not theirs.ok:
                return theirs
            ours.hold_against(theirs, places, policies, asked)
        self._note(asked, ours, raised, both)
        return ours.attempt(asked)

    def _chosen(self, request: RunRequest) -> _Asked:
        """Policies that the child judges by, loaded, and those that are the CLI's."""
        done: list[KyvernoPolicy] = []
        left: list[KyvernoPolicy] = []
        reasons: dict[str, str] = {}
        exceptions = [exception.document for exception in request.exceptions]
        sources = {}
        for policy in request.policies:
            reason = self.refuses(policy)
            if reason:
                reasons[policy.key] = reason
            else:
                sources[policy.key] = source_of(policy.document, exceptions)
        reports = self._judge.load(list(sources.values()))
        for policy in request.policies:
            source = sources.get(policy.key)
            if source is not None and reports[source.id].problem:
                reasons[policy.key] = f"the batch child can't load it: {reports[source.id].problem}"
            (left if policy.key in reasons else done).append(policy)
        if self._cli is not None:
            with self._lock:
                self._left |= reasons
        return _Asked(
            done=done,
            left=left,
            reasons=reasons,
            reports={key: reports[source.id] for key, source in sources.items()},
        )

    def _judged(self, request: RunRequest, asked: _Asked) -> _Ours:
        struck = [p for p in asked.done if self._judge.strikes[asked.reports[p.key].id] >= STRIKES]
        policies = [p for p in asked.done if p not in struck]
        subjects = request.subjects
        documents = [self._document(subject, place) for place, subject in enumerate(subjects)]
        names = {s.facts.namespace for s in subjects if s.facts is not None}
        labels = {
            name: found for name in names if (found := request.surroundings.labels_of(name)) is not None
        }
        pairs = (len(subjects) + 1) * (len(policies) + 1)
        judged = self._judge.judge(
            [asked.reports[p.key].id for p in policies],
            documents,
            labels,
            self._effort.limits(request.family, pairs).seconds,
        )
        ours = _Ours(number=len(subjects), seen=[one.uid == self._uid(n) for n, one in enumerate(judged)])
        for place, one in enumerate(judged):
            ours.take(place, one, policies)
        reason = f"it took too long over {STRIKES} objects"
        for policy in struck:
            for place in range(len(subjects)):
                ours.lost[place, policy.key] = Loss(_GIVEN_UP, reason, TITLE)
        return ours

    def _document(self, subject: Subject, place: int) -> bytes:
        assert subject.facts is not None  # noqa: S101  # only objects without a problem are handed over
        return subject_document(subject.value, namespace=subject.facts.namespace, uid=self._uid(place))

    def _uid(self, place: int) -> str:
        return f"{self._nonce}-{place}"

    def _count_alone(self, asked: _Asked, ours: _Ours) -> None:
        with self._lock:
            for policy in asked.done:
                self._alone[policy.key] += ours.number

    def _note(self, asked: _Asked, ours: _Ours, raised: Sequence[KyvernoPolicy], both: Sequence[int]) -> None:
        keys = {policy.key for policy in raised}
        with self._lock:
            for policy in asked.done:
                compared = ours.number if policy.key in keys else len(both)
                self._compared += compared
                if policy.key in keys and policy.key not in self._raised and self._alone[policy.key]:
                    self._late[policy.key] = self._alone[policy.key]
                self._alone[policy.key] += ours.number - compared
            self._raised |= keys
            self._disputed += ours.disputed


def is_sampled(subject: Subject, every: int) -> bool:
    """Whether an object is judged by both in any case: told by its content, so that no order or sharding changes it."""
    return int(subject.item.ref.digest[:8], 16) % every == 0


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges by what."""

    done: list[KyvernoPolicy]
    left: list[KyvernoPolicy]
    reasons: dict[str, str]
    """Why a policy is the CLI's, by its key."""
    reports: dict[str, LoadReport]
    """Of the policies that the child was handed, by their keys."""

    def trial(self) -> Attempt:
        """What a trial with the CLI would say."""
        if self.reasons:
            return Attempt(ok=False, code=ABORT, reason="; ".join(self.reasons.values()), who=TITLE)
        reports = [self.reports[policy.key] for policy in self.done]
        return Attempt(ok=True, counted=sum(report.rules for report in reports), refused=self.refused())

    def refused(self) -> dict[str, str]:
        """Reason by name of each policy that Kyverno finds invalid."""
        return {
            name: reason
            for report in self.reports.values()
            for name, reason in (report.refused or {}).items()
        }

    def names(self, policy: KyvernoPolicy) -> list[str]:
        """Under which its rows come."""
        return self.reports[policy.key].names or []


class _Ours(msgspec.Struct, kw_only=True):
    """What is known of one run's objects, by their places."""

    number: int
    seen: list[bool]
    rows: dict[tuple[int, str], list[Row]] = {}
    """By place and the policy's name in the rows."""
    lost: dict[tuple[int, str], Loss] = {}
    """By place and key of the policy."""
    disputed: int = 0

    def take(self, place: int, judged: Judged, policies: Sequence[KyvernoPolicy]) -> None:
        """Note what the child says of one object."""
        for row in judged.rows:
            self.rows.setdefault((place, row.policy), []).append(row.row())
        for loss in judged.losses:
            self.lost[place, policies[loss.place].key] = Loss(loss.code, loss.reason, TITLE)

    def raised(self, asked: _Asked, policy: KyvernoPolicy) -> bool:
        """Whether a policy raised an error on any object. One that took too long did not: the CLI would as well."""
        return any(
            row.result == "error"
            for name in asked.names(policy)
            for place in range(self.number)
            for row in self.rows.get((place, name), ())
        )

    def hold_against(
        self, theirs: Attempt, places: Sequence[int], policies: Sequence[KyvernoPolicy], asked: _Asked
    ) -> None:
        """Take over the CLI's rows of what is its alone, and dispute what differs."""
        done = {policy.key for policy in asked.done}
        owners = {
            name: policy.key for policy in policies if policy.key in done for name in asked.names(policy)
        }
        for place, rows, seen in zip(places, theirs.rows, theirs.seen, strict=True):
            self.seen[place] = self.seen[place] and seen
            heard: dict[str, list[Row]] = {name: [] for name in owners}
            for row in rows:
                heard.setdefault(row.policy, []).append(row)
            for name, found in heard.items():
                if name not in owners:
                    self.rows[place, name] = found
                elif seen and (place, owners[name]) not in self.lost:
                    own = agreed(self.rows.get((place, name), ()), found)
                    self.disputed += sum(row.source == DISPUTED for row in own)
                    self.rows[place, name] = own

    def attempt(self, asked: _Asked) -> Attempt:
        """The whole as one run."""
        rows: list[list[Row]] = [[] for _ in range(self.number)]
        for (place, _), found in self.rows.items():
            rows[place] += found
        return Attempt(ok=True, rows=rows, seen=self.seen, refused=asked.refused(), lost=self.lost)
