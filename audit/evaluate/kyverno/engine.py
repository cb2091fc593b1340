"""Kyverno policies, judged by Kyverno itself behind `audit.ports.Engine`."""

from __future__ import annotations

import collections
import concurrent.futures
import shutil
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from audit.evaluate.kyverno.accepted import AcceptedFailures
from audit.evaluate.kyverno.diagnosis import explain
from audit.evaluate.kyverno.expectation import Expectations
from audit.evaluate.kyverno.fold import MISSING_ROW, Verdicts, worst_of
from audit.evaluate.kyverno.offline import ReadyPolicy, make_ready
from audit.evaluate.kyverno.run import Loss, RunRequest, Runs
from audit.evaluate.kyverno.settle import Settled, Settler
from audit.evaluate.kyverno.subjects import ShardSizes, Subject, layers, parts, subject_of, windows
from audit.evaluate.kyverno.surroundings import Surroundings, surroundings_of
from audit.model.api_resources import built_in_plural
from audit.model.finding import PairAnswer
from audit.model.gap import Notice
from audit.model.kyverno import KyvernoPolicy, KyvernoRule, PolicyException, PolicyFamily
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.ports import CollectedObject

UNKNOWN_KIND = "unknown_kind"
EXCEPTION_UNUSED = "exception_unused"

Due = tuple[tuple[KyvernoPolicy, KyvernoRule], ...]


class KyvernoEngine:
    """An `Engine` over the Kyverno CLI, or over the batch child with the CLI as its reference.

    Args:
        runs: starts what judges; owns the folder all files are written to.
        policies: loaded and tried.
        rules: the rules answered for, sorted by id.
        exceptions: live ones.
        jobs: processes at a time.
        sizes: bounds of a shard.
    """

    def __init__(
        self,
        runs: Runs,
        policies: Sequence[KyvernoPolicy],
        rules: tuple[Rule, ...],
        exceptions: Sequence[PolicyException] = (),
        *,
        jobs: int = 1,
        sizes: ShardSizes | None = None,
    ) -> None:
        self._runs = runs
        self._policies = policies
        self._rules = rules
        self._exceptions = exceptions
        self._accepted = AcceptedFailures(runs, exceptions)
        self._jobs = max(1, jobs)
        self._sizes = sizes or ShardSizes()
        self._pool = concurrent.futures.ThreadPoolExecutor(self._jobs, thread_name_prefix="kyverno")
        by_id: dict[str, list[tuple[KyvernoPolicy, KyvernoRule]]] = {}
        for policy in policies:
            for rule in policy.rules:
                by_id.setdefault(rule.rule.id, []).append((policy, rule))
        self._by_id = by_id

    @property
    def runs_started(self) -> int:
        """Processes of the CLI started so far."""
        return self._runs.started

    def version(self) -> EngineVersion:
        """Version and digest of what judges, and the digest of what the user says about the request."""
        version = self._runs.engine_version()
        digest = self._runs.request.digest
        return (
            msgspec.structs.replace(version, details=version.details | {"request": digest})
            if digest
            else version
        )

    def rules(self) -> tuple[Rule, ...]:
        """The rules it answers for."""
        return self._rules

    def notices(self, known: frozenset[str] = frozenset()) -> tuple[Notice, ...]:
        """Asked at the end: exceptions that accepted nothing, and what is worth saying of all runs.

        Args:
            known: ids of exceptions that answers of earlier runs name, which this engine was not asked for again.
        """
        unused = tuple(
            Notice(
                source=exception.file,
                code=EXCEPTION_UNUSED,
                message=f"PolicyException {exception.id} accepted no failure",
                line=exception.line,
            )
            for exception in self._exceptions
            if not self._accepted.used[exception.id] and exception.id not in known
        )
        return (*unused, *self._runs.notices())

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order; at most two shards for each process are held in memory."""
        del cluster
        member = _Member(self, surroundings_of(inventory))
        sizes = self._sizes
        stream = (member.subject(item) for item in objects)
        pending: collections.deque[concurrent.futures.Future[list[list[PairAnswer]]]] = collections.deque()
        for window in windows(stream, sizes, self._jobs):
            cuts = parts(window, self._jobs, smallest=sizes.smallest)
            pending.extend(self._pool.submit(member.judge, cut) for cut in cuts)
            # One window ahead: the CLI has work while answers are read.
            while len(pending) > self._jobs:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()

    def close(self) -> None:
        """Stop processes and remove files."""
        self._runs.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._runs.folder, ignore_errors=True)

    def ready_for(self, surroundings: Surroundings) -> dict[str, ReadyPolicy]:
        """All policies as they can be handed over on one cluster."""
        runs = self._runs
        return {
            policy.key: make_ready(policy, runs.request, runs.capabilities, surroundings)
            for policy in self._policies
        }

    def due_for(self, item: CollectedObject) -> Due:
        """The policies and rules due for an object, in rule order."""
        key = item.ref.kind_key
        return tuple(
            pair
            for rule in self._rules
            if rule.matches(key) and (not item.ref.derived or rule.match_derived)
            for pair in self._by_id[rule.id]
        )

    @property
    def runs(self) -> Runs:
        """Starts what judges."""
        return self._runs

    @property
    def accepted(self) -> AcceptedFailures:
        """Applies exceptions."""
        return self._accepted


class _Member:
    """One cluster's evaluation."""

    def __init__(self, engine: KyvernoEngine, surroundings: Surroundings) -> None:
        self._engine = engine
        self._surroundings = surroundings
        self._expectations = Expectations(engine.runs.request, surroundings)
        self._ready = engine.ready_for(surroundings)
        self._due: dict[tuple[str, bool], Due] = {}
        self._keys: dict[int, frozenset[str]] = {}

    def subject(self, item: CollectedObject) -> Subject:
        key = (item.ref.kind_key, item.ref.derived)
        due = self._due.get(key)
        if due is None:
            due = self._due[key] = self._engine.due_for(item)
        return subject_of(item, due, self._surroundings.custom)

    def judge(self, subjects: Sequence[Subject]) -> list[list[PairAnswer]]:
        """Answers of a shard, one list per subject, one answer per due rule."""
        settled: dict[PolicyFamily, Settled] = {}
        templates: dict[PolicyFamily, RunRequest] = {}
        for family in PolicyFamily:
            template = RunRequest(
                family=family,
                policies=self._handed(family, subjects),
                subjects=(),
                surroundings=self._surroundings,
            )
            if template.policies:
                templates[family] = template
                settled[family] = self._settle(template, subjects)
        verdicts = Verdicts(expectations=self._expectations, ready=self._ready, settled=settled)
        answers = {id(subject): verdicts.answers(subject) for subject in subjects}
        holes = [s for s in subjects if any(a.reason == MISSING_ROW for a in answers[id(s)])]
        if holes:
            verdicts = self._explained(verdicts, templates, holes)
            answers |= {id(subject): verdicts.answers(subject) for subject in holes}
        handed = [subject for subject in subjects if subject.facts is not None]
        for template in templates.values():
            self._engine.accepted.apply(template, answers, handed)
        return [_one_each(answers[id(subject)]) for subject in subjects]

    def _handed(self, family: PolicyFamily, subjects: Sequence[Subject]) -> list[KyvernoPolicy]:
        keys = frozenset[str]().union(*(self._keys_of(subject) for subject in subjects))
        return [
            ready.policy
            for key, ready in self._ready.items()
            if key in keys and ready.policy.family is family and ready.policy.document
        ]

    def _keys_of(self, subject: Subject) -> frozenset[str]:
        """Keys of the policies due for it; objects of one kind share the tuple."""
        keys = self._keys.get(id(subject.due))
        if keys is None:
            keys = self._keys[id(subject.due)] = frozenset(policy.key for policy, _ in subject.due)
        return keys

    def _settle(self, template: RunRequest, subjects: Sequence[Subject]) -> Settled:
        keys = {policy.key for policy in template.policies}
        concerned = [
            subject
            for subject in subjects
            if subject.facts is not None and not keys.isdisjoint(self._keys_of(subject))
        ]
        settler = Settler(self._engine.runs, template)
        unknown = [subject for subject in concerned if self._is_unmappable(template.family, subject)]
        for subject in unknown:
            reason = "without its CustomResourceDefinition Kyverno does not know the kind"
            settler.settled.lost[id(subject)] = Loss(UNKNOWN_KIND, reason)
        known = [subject for subject in concerned if id(subject) not in settler.settled.lost]
        for layer in layers(known):
            settler.settle(layer, template.policies)
        return settler.settled

    def _is_unmappable(self, family: PolicyFamily, subject: Subject) -> bool:
        """For admission policies the CLI aborts on a kind it can't map."""
        key = subject.item.ref.kind_key
        defined = key in self._surroundings.definitions and bool(self._engine.runs.capabilities.crd_flag)
        return family is PolicyFamily.ADMISSION and built_in_plural(key) is None and not defined

    def _explained(
        self, verdicts: Verdicts, templates: dict[PolicyFamily, RunRequest], subjects: Sequence[Subject]
    ) -> Verdicts:
        explained: dict[tuple[int, str], str] = {}
        missing = [(subject, *pair) for subject in subjects for pair in verdicts.missing(subject)]
        for family, template in templates.items():
            own = [one for one in missing if one[1].family is family]
            if own:
                handed = {policy.key: policy for policy in template.policies}
                own = [(subject, handed[policy.key], variant) for subject, policy, variant in own]
                explained |= explain(self._engine.runs, template, own)
        return msgspec.structs.replace(verdicts, explained=explained) if explained else verdicts


def _one_each(answers: list[PairAnswer]) -> list[PairAnswer]:
    """Copies of one admission policy (one for each binding) answer for the same rule: the worst counts."""
    by_rule: dict[str, list[PairAnswer]] = {}
    for answer in answers:
        by_rule.setdefault(answer.rule, []).append(answer)
    return [worst_of(same) for same in by_rule.values()]
