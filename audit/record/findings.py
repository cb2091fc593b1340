"""Findings, sorted on disk and read back as groups: what memory holds does not grow with their number."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import heapq
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

import msgspec

from audit.errors import UsageError
from audit.model.canonical import canonical_json
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import GroupCounts
from audit.model.rule import Severity
from audit.record.pod_paths import NO_PODS, PodPaths
from audit.redact import masked, may_hold_credentials
from audit.spill import Spill

_OUTCOME_RANK = {Outcome.FAIL: 0, Outcome.ERROR: 1, Outcome.WARN: 2}
_OUTCOMES = tuple(_OUTCOME_RANK)
_SEVERITIES = tuple(Severity)
_BUFFER_FINDINGS = 40_000

Key = tuple[int, int, str, str, str, str, str, str, str, str]
"""Outcome rank, severity rank, rule, owner, container, path shape | cluster, subject, place, path."""


class _Row(msgspec.Struct, frozen=True, array_like=True):
    key: Key
    waived: bool
    finding: bytes


class FindingStore:
    """A `GroupSource` that spills sorted runs to disk and merges them deterministically.

    Args:
        folder: where temporary files go; the system's temporary folder by default.
        buffer: findings held in memory before a run is written.
        pods: where the pods of each kind stand, so that what a controller made falls into its groups.
    """

    def __init__(
        self, folder: Path | None = None, *, buffer: int = _BUFFER_FINDINGS, pods: PodPaths = NO_PODS
    ) -> None:
        self._shape = functools.lru_cache(
            maxsize=1 << 14
        )(  # the same few places are wrong in thousands of objects
            lambda kind, path: path_shape(pods.named(kind, path))
        )
        self._folder = folder
        self._limit = buffer
        self._buffer: list[_Row] = []
        self._runs: list[Spill] = []
        self._lines: Spill | None = None
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.json.Decoder(Finding)
        self._row_decoder = msgspec.msgpack.Decoder(_Row)
        self._counts: GroupCounts | None = None
        self._closed = False

    def add(self, finding: Finding) -> None:
        """Keep one finding, without the credentials that the author of a rule may have put into a message."""
        self._forget()
        data = canonical_json(finding)
        if may_hold_credentials(data):
            data = canonical_json(masked(finding))
        self._buffer.append(_Row(self._key(finding), bool(finding.waiver), data))
        if len(self._buffer) >= self._limit:
            self._spill()

    def _key(self, finding: Finding) -> Key:
        subject = finding.subject
        violation = finding.violation
        if finding.outcome is Outcome.ERROR:
            # One cause, one group: an engine that times out on 10,000 objects is one thing to mend.
            owner, container, shape = "", "", finding.error
        else:
            where = f"{subject.namespace}/" if subject.namespace else ""
            owner = f"{subject.owner_kind or subject.kind} {where}{subject.owner_name or subject.name}"
            container, shape = violation.container, self._shape(subject.kind_key, violation.path)
        place = f"{subject.source}\x00{subject.document:08d}\x00{subject.item}"
        return (
            _OUTCOME_RANK[finding.outcome],
            finding.severity.rank,
            finding.rule,
            owner,
            container,
            shape,
            subject.cluster,
            subject.key,
            place,
            violation.path_text,
        )

    def groups(self) -> Iterator[FindingGroup]:
        """All groups in display order.

        Raises:
            UsageError: the store is closed; an empty answer would look like a fleet without findings.
        """
        self._check_open()
        return self._decoded()

    def _decoded(self) -> Iterator[FindingGroup]:
        decode = self._decoder.decode
        for key, rows in itertools.groupby(self._rows(), key=_group_key):
            stored = list(rows)
            members = tuple([decode(row.finding) for row in stored])
            yield msgspec.structs.replace(_head(key, stored), members=members)

    def encoded_groups(self) -> Iterator[bytes]:
        """Canonical JSON of all groups in display order, put together from the stored findings, once.

        Raises:
            UsageError: the store is closed.
        """
        self._check_open()
        return iter(self._gathered()[0])

    def counts(self) -> GroupCounts:
        """Totals, counted once; they outlive the store.

        Raises:
            UsageError: the store was closed before anybody asked.
        """
        if self._counts is None:
            self._check_open()
            self._counts = self._gathered()[1]
        return self._counts

    def _gathered(self) -> tuple[Spill, GroupCounts]:
        """Lines and totals, in one pass: with many findings, merging them costs more than either."""
        if self._lines is None or self._counts is None:
            with contextlib.ExitStack() as unless_done:
                lines = Spill(self._folder)
                unless_done.callback(lines.close)
                self._lines, self._counts = lines, _count(self._written(lines))
                unless_done.pop_all()
        return self._lines, self._counts

    def _written(self, lines: Spill) -> Iterator[tuple[Outcome, Severity, int, int]]:
        """Write the groups; yield of each what `_count` wants."""
        for key, rows in itertools.groupby(self._rows(), key=_group_key):
            members = list(rows)
            head = canonical_json(_head(key, members))
            # `members` is the last field of a group, empty in the head.
            lines.append(head[: -len(b"]}")] + b",".join([row.finding for row in members]) + b"]}")
            waived = sum(row.waived for row in members)
            yield _OUTCOMES[int(key[0])], _SEVERITIES[int(key[1])], len(members), waived

    def close(self) -> None:
        """Give the space back."""
        counts = self._counts
        self._forget()
        self._counts = counts
        for run in self._runs:
            run.close()
        self._runs.clear()
        self._buffer.clear()
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError(
                "the finding groups are gone: their files were removed when the audit was closed",
                suggestion="read groups and write reports inside the `with` block of the audit",
            )

    def _forget(self) -> None:
        """Drop what was derived from the findings so far."""
        self._counts = None
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _rows(self) -> Iterator[_Row]:
        self._buffer.sort(key=_whole_key)
        if not self._runs:
            return iter(self._buffer)
        decode = self._row_decoder.decode
        return heapq.merge(*(map(decode, run) for run in self._runs), self._buffer, key=_whole_key)

    def _spill(self) -> None:
        self._buffer.sort(key=_whole_key)
        run = Spill(self._folder)
        self._runs.append(run)
        for row in self._buffer:
            run.append(self._encoder.encode(row))
        self._buffer = []


def count_groups(groups: Iterable[FindingGroup]) -> GroupCounts:
    """Totals over any groups; used for reloaded results."""
    return _count((group.outcome, group.severity, group.total, group.waived) for group in groups)


def _count(groups: Iterable[tuple[Outcome, Severity, int, int]]) -> GroupCounts:
    """Totals over (outcome, severity, members, waived members)."""
    open_groups = {severity.value: 0 for severity in Severity}
    waived = errors = warns = findings = 0
    for outcome, severity, total, waived_members in groups:
        findings += total
        if outcome is Outcome.ERROR:
            errors += 1
        elif outcome is Outcome.WARN:
            warns += 1
        elif waived_members == total:
            waived += 1
        else:
            open_groups[severity.value] += 1
    return GroupCounts(open=open_groups, waived=waived, errors=errors, warns=warns, findings=findings)


def group_id(outcome: Outcome, parts: Iterable[str]) -> str:
    """``G-`` and 8 hex digits; survives new clusters, replicas, image tags and moved lines."""
    text = "|".join(parts)
    if outcome is not Outcome.FAIL:
        text = f"{outcome.value}|{text}"
    return f"G-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def path_shape(path: tuple[str | int, ...]) -> str:
    """The path with list indexes blanked: replicas of one mistake share it."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += "[]"
        elif text:
            text += f".{segment}"
        else:
            text = segment
    return text


def _whole_key(row: _Row) -> Key:
    return row.key


def _group_key(row: _Row) -> tuple[int, int, str, str, str, str]:
    return row.key[:6]


def _head(key: tuple[int, int, str, str, str, str], rows: list[_Row]) -> FindingGroup:
    """The group without its members."""
    outcome, severity, rule, owner, container, shape = key
    return FindingGroup(
        id=group_id(_OUTCOMES[outcome], (rule, owner, container, shape)),
        rule=rule,
        severity=_SEVERITIES[severity],
        outcome=_OUTCOMES[outcome],
        owner=owner,
        container=container,
        path=shape,
        clusters=tuple(sorted({row.key[6] for row in rows})),
        total=len(rows),
        waived=sum(row.waived for row in rows),
        members=(),
    )
