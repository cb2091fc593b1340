"""One run of the CLI: files written, arguments put together, rows paired with objects, the canary checked."""

from __future__ import annotations

import re
import secrets
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from audit.evaluate.kyverno.binary import KyvernoCli
from audit.evaluate.kyverno.canary import KNOWN_BAD, LOOKED_AT, canary_name, canary_object, canary_policy
from audit.evaluate.kyverno.capabilities import Capabilities
from audit.evaluate.kyverno.handover import join, to_document, values_document
from audit.evaluate.kyverno.log_lines import LogLine, failure_reason, log_lines
from audit.evaluate.kyverno.process import Limits, RunResult, ToolRunner
from audit.evaluate.kyverno.report_stream import Row, read_printed, refused_policies
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.subjects import Subject
from audit.evaluate.kyverno.surroundings import Surroundings
from audit.model.gap import Notice
from audit.model.kyverno import KyvernoPolicy, ObjectNeed, OutsideNeed, PolicyException, PolicyFamily
from audit.model.run import EngineVersion
from audit.model.subject import kind_key

PANIC = "cli_panic"
ABORT = "cli_abort"
_PANIC_EXIT = 2
_DIAGNOSIS_BYTES = 64 << 20
_TRIAL_BYTES = 4 << 20
_COUNTED = re.compile(r"^Applying (\d+) policy rule\(s\) to \d+ resource\(s\)", re.MULTILINE)


class Loss(NamedTuple):
    """Why there is no answer."""

    code: str
    reason: str
    who: str = "the Kyverno CLI"
    """Gave none."""


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of all runs."""

    seconds_base: float = 90.0
    seconds_per_pair: float = 0.01
    """For a classic rule, about fifty times its usual cost; policies in CEL get ten times as long."""
    pair_seconds: float = 10.0
    """For one object under one policy in the batch child."""
    memory_bytes: int = 4 << 30
    gc_percent: int = 400

    def limits(self, family: PolicyFamily, pairs: int) -> Limits:
        """Limits of a run of so many pairs."""
        factor = 1 if family is PolicyFamily.CLASSIC else 10
        return Limits(
            seconds=self.seconds_base + self.seconds_per_pair * factor * pairs,
            memory_bytes=self.memory_bytes,
            gc_percent=self.gc_percent,
        )


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What one run gave."""

    ok: bool
    code: str = ""
    """Error code when it failed."""
    reason: str = ""
    who: str = Loss._field_defaults["who"]
    """Failed."""
    rows: list[list[Row]] = []
    """By position of the object."""
    seen: list[bool] = []
    """Whether the canary policy looked at each object."""
    lost: dict[tuple[int, str], Loss] = {}
    """Pairs without an answer in a run that ended well, by position of the object and key of the policy."""
    refused: dict[str, str] = {}
    """Policies Kyverno found invalid."""
    log: list[LogLine] = []
    """Only when asked for."""
    counted: int = -1
    """In a trial: how many policy rules the CLI says it applies, the canary's left out; -1 when it does not say."""

    @property
    def loss(self) -> Loss:
        """Of every pair, when it failed."""
        return Loss(self.code, self.reason, self.who)


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Who is judged by what."""

    family: PolicyFamily
    policies: Sequence[KyvernoPolicy]
    subjects: Sequence[Subject]
    surroundings: Surroundings
    exceptions: Sequence[PolicyException] = ()
    diagnose: bool = False
    """Log why rules were not matched; costly, so only for the objects in question."""
    trial: bool = False
    """Nothing is judged: do the policies load?"""


class Runs(Protocol):
    """Starts whatever judges; thread-safe."""

    folder: Path
    """Everything written goes below it."""
    request: Request

    @property
    def capabilities(self) -> Capabilities:
        """Of the Kyverno that judges."""
        ...

    @property
    def started(self) -> int:
        """Processes of the CLI started so far."""
        ...

    def attempt(self, request: RunRequest) -> Attempt:
        """One run."""
        ...

    def engine_version(self) -> EngineVersion:
        """For the run record."""
        ...

    def notices(self) -> tuple[Notice, ...]:
        """Asked at the end: what is worth saying of all runs together."""
        ...

    def stop(self) -> None:
        """Kill everything that runs."""
        ...


class CliRuns:
    """Runs of one CLI with the user's request; thread-safe. Everything written goes below one folder."""

    def __init__(
        self,
        cli: KyvernoCli,
        folder: Path,
        request: Request,
        effort: Effort,
        global_context: Mapping[str, bytes] | None = None,
    ) -> None:
        self.cli = cli
        self.request = request
        self.runner = ToolRunner()
        self.started = 0
        self._effort = effort
        self.folder = folder
        self._global_context = global_context or {}
        self._nonce = secrets.token_hex(8)
        self._files: dict[bytes, Path] = {}
        self._lock = threading.Lock()
        self._canary = folder / "canary.yaml"
        self._canary.write_bytes(to_document(canary_policy(self._nonce)))

    @property
    def capabilities(self) -> Capabilities:
        """Of the CLI."""
        return self.cli.capabilities

    def engine_version(self) -> EngineVersion:
        """The CLI's version and digest."""
        return self.cli.engine_version()

    def notices(self) -> tuple[Notice, ...]:
        """Nothing that the answers do not say."""
        return ()

    def stop(self) -> None:
        """Kill everything that runs; later runs end at once."""
        self.runner.stop()

    def attempt(self, request: RunRequest) -> Attempt:
        """One run; its folder is gone afterwards."""
        with self._lock:
            self.started += 1
        folder = self.folder / f"run-{secrets.token_hex(6)}"
        folder.mkdir()
        try:
            command = self._command(folder, request)
            pairs = (len(request.subjects) + 1) * (len(request.policies) + 1)
            result = self.runner.run(command, folder, self._effort.limits(request.family, pairs))
            return self._understand(result, request)
        except OSError as error:
            return Attempt(ok=False, code=ABORT, reason=f"files could not be written: {error.strerror}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def policy_file(self, policy: KyvernoPolicy) -> Path:
        """The policy's own file: a document the CLI can't read must not take others with it."""
        return self._file(policy.document)

    def _file(self, document: bytes) -> Path:
        with self._lock:
            path = self._files.get(document)
            if path is None:
                path = self.folder / f"input-{len(self._files):05d}.yaml"
                path.write_bytes(document)
                self._files[document] = path
        return path

    def _command(self, folder: Path, request: RunRequest) -> list[str]:
        objects = folder / "objects.yaml"
        uids = range(len(request.subjects))
        documents = [
            subject.document(self._uid(i)) for i, subject in zip(uids, request.subjects, strict=True)
        ]
        documents.append(to_document(canary_object(self._nonce, self._uid(len(documents)))))
        # Only those that are read: one over a kind the CLI never saw makes it panic.
        entries = {need.entry for need in _needs(request.policies) if need.entry}
        documents += [self._global_context[name] for name in sorted(entries)]
        objects.write_bytes(join(documents))
        files = [str(self.policy_file(policy)) for policy in request.policies]
        command = [self.cli.path, "apply", *files, str(self._canary), "-r", str(objects)]
        # Only the printed sentence of a run without a report says how many policies were read.
        command += [] if request.trial else ["-p", "--output-format", "json"]
        # The log costs time and holds values of objects: in full only where it is read.
        command += ["--remove-color", "-v=4" if request.diagnose else "-v=3" if request.trial else "-v=1"]
        command += self._values(folder, request)
        command += self._context(folder, request)
        for exception in request.exceptions:
            command += [
                "-e",
                str(self._file(exception.document)),
            ]
        return command

    def _values(self, folder: Path, request: RunRequest) -> list[str]:
        arguments: list[str] = []
        namespaces = {
            name: labels
            for name in {s.facts.namespace for s in request.subjects if s.facts is not None}
            if (labels := request.surroundings.labels_of(name)) is not None
        }
        if self.request.values or namespaces:
            values = values_document(self.request.values, namespaces)
            arguments += ["-f", str(_write(folder / "values.yaml", values))]
        if self.request.user:
            arguments += ["-u", str(_write(folder / "user.yaml", self.request.user))]
        return arguments

    def _context(self, folder: Path, request: RunRequest) -> list[str]:
        needs = [need.objects for need in _needs(request.policies) if need.objects is not None]
        arguments: list[str] = []
        if request.family is PolicyFamily.VALIDATING:
            arguments += self._cel_context(folder, request, needs)
        elif needs and self.cli.capabilities.parameter_resources:
            judged = {s.facts.identity for s in request.subjects if s.facts is not None}
            # The same object twice is a panic, wherever it stands.
            found = request.surroundings.objects_for(needs, everywhere=request.trial)
            others = [entry for entry in found if entry.identity not in judged]
            if others:
                path = folder / "seen.yaml"
                path.write_bytes(join(to_document(entry.value) for entry in others))
                arguments += ["--parameter-resource", str(path)]
        definitions = request.surroundings.definitions
        if request.family is not PolicyFamily.CLASSIC and definitions and self.cli.capabilities.crd_flag:
            kinds = {kind_key(s.facts.group, s.facts.kind) for s in request.subjects if s.facts is not None}
            used = [definitions[key] for key in sorted(kinds & definitions.keys())]
            if used:
                # One file: of several, the CLI keeps the last.
                path = folder / "crds.yaml"
                path.write_bytes(join(to_document(value) for value in used))
                arguments += [self.cli.capabilities.crd_flag, str(path)]
        return arguments

    def _cel_context(self, folder: Path, request: RunRequest, needs: Sequence[ObjectNeed]) -> list[str]:
        spec: dict[str, Any] = dict((self.request.context or {}).get("spec") or {})
        keys = {kind_key(need.group, need.kind) for need in needs}
        found = [entry.value for key in sorted(keys) for entry in request.surroundings.objects.get(key, ())]
        if found:
            spec["resources"] = [*(spec.get("resources") or []), *found]
        if not spec:
            return []
        document = {
            "apiVersion": "cli.kyverno.io/v1alpha1",
            "kind": "Context",
            "metadata": {"name": "context"},
            "spec": spec,
        }
        return ["--context-file", str(_write(folder / "context.yaml", document))]

    def _uid(self, index: int) -> str:
        return f"{self._nonce}-{index}"

    def _understand(self, result: RunResult, request: RunRequest) -> Attempt:
        number = len(request.subjects)
        if result.problem:
            return Attempt(ok=False, code=result.problem, reason=failure_reason(result))
        if result.code not in (0, 1):
            return Attempt(ok=False, code=PANIC, reason=failure_reason(result))
        if request.trial:
            return _trial(result)
        printed = read_printed(result.stdout)
        rows: list[list[Row]] = [[] for _ in range(number)]
        seen = [False] * (number + 1)
        canary_failed = False
        canary = canary_name(self._nonce)
        for row in printed.rows:
            prefix, _, index = row.uid.partition("-")
            if prefix != self._nonce or not index.isdigit() or int(index) > number:
                continue  # not one of ours: never trusted
            position = int(index)
            if row.policy == canary:
                seen[position] = seen[position] or row.rule == LOOKED_AT
                canary_failed = canary_failed or (row.rule == KNOWN_BAD and row.result == "fail")
            elif position < number:
                rows[position].append(row)
        if not seen[number] or not canary_failed:
            broken = "the report was cut off" if printed.broken else failure_reason(result)
            return Attempt(ok=False, code=ABORT, reason=broken, refused=printed.refused)
        log = log_lines(result.stderr_head(_DIAGNOSIS_BYTES)) if request.diagnose else []
        return Attempt(ok=True, rows=rows, seen=seen[:number], refused=printed.refused, log=log)


def _needs(policies: Sequence[KyvernoPolicy]) -> list[OutsideNeed]:
    return [need for policy in policies for rule in policy.rules for need in rule.outside]


def _trial(result: RunResult) -> Attempt:
    text = result.stdout_text(_TRIAL_BYTES)
    refused = refused_policies(text)
    match = _COUNTED.search(text)
    log = log_lines(result.stderr_head(_TRIAL_BYTES))
    reason = failure_reason(result)
    # Violations (the canary's) end with exit code 1 and no word; an error says so.
    if match is None or reason.startswith("Error"):
        return Attempt(ok=False, code=ABORT, reason=reason, refused=refused, log=log)
    counted = int(match[1]) - len(canary_policy("")["spec"]["rules"])
    return Attempt(ok=True, refused=refused, log=log, counted=counted)


def _write(path: Path, value: Mapping[str, Any]) -> Path:
    path.write_bytes(to_document(value))
    return path
