"""Talks to the batch child: policies loaded once, objects in batches, the child started anew when it is gone."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.evaluate.kyverno.canary import KNOWN_BAD, canary_name, canary_object, canary_policy
from audit.evaluate.kyverno.handover import to_document
from audit.evaluate.kyverno.report_stream import Row
from audit.native import frames
from audit.native.binary import Program
from audit.native.child import Child, ChildDiedError
from audit.native.frames import Kind

_BATCH_BYTES = 1 << 20
_WINDOW = 2
_LOAD_SECONDS = 600.0
STRIKES = 3
"""Objects a policy may take too long over before it is not asked any more, over all restarts."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A policy document with the exceptions that may spare objects from it."""

    id: str
    document: str
    exceptions: tuple[str, ...] = ()


class LoadReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the child took a source."""

    id: str
    rules: int = 0
    """What the CLI would count as policy rules."""
    problem: str = ""
    """Why it is not asked; empty when it is."""
    refused: dict[str, str] | None = None
    """Reason by name of each policy that Kyverno itself finds invalid."""
    names: list[str] | None = None
    """``policy`` in the rows."""


class WireRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A row as the child sends it."""

    policy: str
    rule: str
    result: str
    message: str
    exceptions: str

    def row(self) -> Row:
        """As the CLI would report it."""
        properties = {"exceptions": self.exceptions} if self.exceptions else {}
        return Row(
            policy=self.policy,
            rule=self.rule,
            result=self.result,
            message=self.message,
            properties=properties,
        )


class WireLoss(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A pair without an answer."""

    place: int
    """Of the source in the question."""
    code: str
    reason: str


class Judged(msgspec.Struct, frozen=True, array_like=True):
    """All about one object."""

    uid: str
    """As the child read it from the object: proves that it was looked at."""
    rows: list[WireRow]
    losses: list[WireLoss]


class CanaryError(Exception):
    """The child did not find the known failure: nothing it says counts."""


_REPORTS = msgspec.json.Decoder(list[LoadReport])
_LISTS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_JUDGED = msgspec.msgpack.Decoder(Judged)


def source_of(document: bytes, exceptions: Sequence[bytes]) -> Source:
    """A source, named by what it says."""
    digest = hashlib.sha256(document)
    for one in exceptions:
        digest.update(b"\0" + one)
    texts = tuple(one.decode() for one in exceptions)
    return Source(id=digest.hexdigest(), document=document.decode(), exceptions=texts)


class BatchJudge:
    """One child for all threads; they take turns, and it uses all its cores for each.

    Args:
        program: what is started.
        jobs: cores it may use.
        memory_bytes: resident memory after which it stops itself.
        pair_seconds: time limit of one object under one policy.
        nonce: makes the canary's name.
    """

    def __init__(
        self, program: Program, *, jobs: int, memory_bytes: int, pair_seconds: float, nonce: str
    ) -> None:
        self.started = 0
        self.strikes: Counter[str] = Counter()
        """Objects each source ran into the time limit on."""
        self._program = program
        self._jobs = jobs
        self._memory = memory_bytes
        self._seconds = pair_seconds
        self._nonce = nonce
        self._canary = source_of(to_document(canary_policy(nonce)), ())
        self._canary_object = to_document(canary_object(nonce, f"{nonce}-canary"))
        self._sources: dict[str, Source] = {self._canary.id: self._canary}
        self._reports: dict[str, LoadReport] = {}
        self._child: Child | None = None
        self._request = 0
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Process id of the child that runs, if one does."""
        return self._child.pid if self._child is not None else None

    def load(self, sources: Sequence[Source]) -> dict[str, LoadReport]:
        """How each source was taken; a source that ends the child is told as its problem.

        Raises:
            ChildDiedError: the child can't be kept running at all.
            EngineError: it does not start.
        """
        with self._lock:
            fresh = [one for one in sources if one.id not in self._reports]
            if fresh:
                self._load_fresh(fresh)
            return {one.id: self._reports[one.id] for one in sources}

    def _load_fresh(self, fresh: Sequence[Source]) -> None:
        child = self._running()
        try:
            reports = self._tell(child, fresh)
        except ChildDiedError as death:
            self._bury()
            if len(fresh) == 1:
                problem = f"it ended the engine: {death}"
                self._reports[fresh[0].id] = LoadReport(id=fresh[0].id, problem=problem)
            else:
                middle = len(fresh) // 2
                self._load_fresh(fresh[:middle])
                self._load_fresh(fresh[middle:])
        else:
            self._note(fresh, reports)

    def _note(self, sources: Sequence[Source], reports: Sequence[LoadReport]) -> None:
        for source, report in zip(sources, reports, strict=True):
            self._reports[source.id] = report
            if not report.problem:
                self._sources[source.id] = source

    def judge(
        self,
        ids: Sequence[str],
        objects: Sequence[bytes],
        namespaces: Mapping[str, Mapping[str, str]],
        seconds: float,
    ) -> list[Judged]:
        """What the named sources say about each object, in order.

        Args:
            ids: of sources that were loaded without a problem.
            objects: JSON, each with a namespace where it has one and a uid of its own.
            namespaces: labels by namespace, of those that are known.
            seconds: after which the child is killed.

        Raises:
            ChildDiedError: it ended over it.
            CanaryError: it does not find a known failure.
            EngineError: it does not start, or refuses a request.
        """
        head = msgspec.json.encode(
            {"policies": list(ids), "namespaces": namespaces, "canary": self._canary.id}
        )
        with self._lock:
            child = self._running()
            try:
                payloads = self._ask(child, head, objects, time.monotonic() + seconds)
                answered = [self._understood(payload) for payload in payloads]
            except (ChildDiedError, msgspec.MsgspecError, CanaryError) as failure:
                self._bury()
                if isinstance(failure, msgspec.MsgspecError):
                    raise ChildDiedError(f"it answers nonsense: {failure}") from failure
                raise
            if any(abandoned for _, abandoned in answered):
                self._bury()  # what it could not stop would take a core for ever
        judged = [one for part, _ in answered for one in part]
        if len(judged) != len(objects):
            raise ChildDiedError(f"it answers {len(judged)} objects of {len(objects)}")
        for one in judged:
            self.strikes.update(ids[loss.place] for loss in one.losses if loss.code == "timed_out")
        return judged

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._bury()

    def stop(self) -> None:
        """End the child at once, whoever is waiting for it."""
        child = self._child
        if child is not None:
            child.kill()

    def _ask(self, child: Child, head: bytes, objects: Sequence[bytes], deadline: float) -> list[bytes]:
        """Replies to all batches, at most two of them under way."""
        payloads: list[bytes] = []
        waiting: list[int] = []
        for batch in _cut(objects):
            request = self._next()
            child.send(Kind.BATCH, request, self._encoded(head, batch))
            waiting.append(request)
            if len(waiting) >= _WINDOW:
                payloads.append(_reply(child, waiting.pop(0), deadline))
        return payloads + [_reply(child, request, deadline) for request in waiting]

    def _encoded(self, head: bytes, objects: Sequence[bytes]) -> bytes:
        pieces = [*frames.field(head), frames.U32.pack(len(objects) + 1)]
        for one in (*objects, self._canary_object):
            pieces += frames.field(one)
        return b"".join(pieces)

    def _understood(self, payload: bytes) -> tuple[list[Judged], int]:
        """Answers without the canary's, and how many pairs run on."""
        parts = _LISTS.decode(payload)
        *judged, canary = [_JUDGED.decode(part) for part in parts[:-1]]
        name = canary_name(self._nonce)
        found = {(row.policy, row.rule): row.result for row in canary.rows}
        if found.get((name, KNOWN_BAD)) != "fail":
            raise CanaryError("it does not find what is known to be bad")
        return judged, msgspec.msgpack.decode(parts[-1], type=int)

    def _running(self) -> Child:
        """The child, started and loaded when needed."""
        if self._child is None:
            child = Child(
                "judge",
                jobs=self._jobs,
                memory_bytes=self._memory,
                item_seconds=self._seconds,
                program=self._program,
            )
            self.started += 1
            self._child = child
            try:
                limits = msgspec.json.encode({"pair_ms": max(1, int(self._seconds * 1000))})
                self._call(child, Kind.CONFIGURE, limits)
                self._note(list(self._sources.values()), self._tell(child, list(self._sources.values())))
            except BaseException:
                self._bury()
                raise
        return self._child

    def _tell(self, child: Child, sources: Sequence[Source]) -> list[LoadReport]:
        payload: dict[str, Any] = {"policies": sources}
        return _REPORTS.decode(self._call(child, Kind.LOAD, msgspec.json.encode(payload)))

    def _call(self, child: Child, kind: Kind, payload: bytes) -> bytes:
        request = self._next()
        child.send(kind, request, payload)
        return _reply(child, request, time.monotonic() + _LOAD_SECONDS)

    def _next(self) -> int:
        self._request = (self._request + 1) & 0x7FFFFFFF
        return self._request

    def _bury(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.close()
            self._child = None


def _reply(child: Child, request: int, deadline: float) -> bytes:
    while True:
        message = child.receive(deadline)
        if message.request == request:
            return message.payload


def _cut(objects: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Batches of bounded size; one without objects when there are none, for the canary's sake."""
    batch: list[bytes] = []
    size = 0
    for one in objects:
        batch.append(one)
        size += len(one)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch or not objects:
        yield batch
