"""A running cluster as a stream of objects and gaps. Memory holds a few pages, however large the cluster is."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import time
from collections.abc import Callable, Iterator

import msgspec

from audit.collect.cluster.connection import Access, Connection
from audit.collect.cluster.failures import ApiError, one_line
from audit.collect.cluster.listing import Page, Patience, pages
from audit.collect.cluster.served import Served, ServedKind, served_by
from audit.collect.unknown_places import unknown_places
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile, ServerFacts
from audit.model.subject import kind_listed
from audit.native.events import DocumentRead, NoticeRead, ProblemRead
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink, StopSignal

SECRET = "Secret"
_AT_ONCE = 4
_SEPARATOR = b"\n---\n"

Normalise = Callable[[DocumentRead, str, str], CollectedObject]
"""(document, cluster, source) to object."""


class ClusterScope(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster, and what of it is wanted."""

    cluster: str
    access: Access
    kinds: tuple[str, ...]
    """Kind keys that the rules need; ``group/*`` is every kind of a group."""
    secret_metadata: bool = False
    """List Secrets, as the server's own metadata-only form."""
    seconds: float = 600.0
    """For the whole cluster."""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _Meta(msgspec.Struct):
    uid: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class ClusterSource:
    """A `SubjectSource` over one API server.

    Args:
        scope: what to read.
        reader: the running native reader: it redacts before anything else sees an object.
        normalise: turns a document into an object.
        progress: told of every page.
        stop: asked between pages.
    """

    def __init__(
        self,
        scope: ClusterScope,
        reader: Reader,
        normalise: Normalise,
        *,
        progress: ProgressSink,
        stop: StopSignal,
    ) -> None:
        self._scope = scope
        self._host = self._version = self._uid = ""
        self._not_served: tuple[str, ...] = ()
        self._reader = reader
        self._normalise = normalise
        self._progress = progress
        self._stop = stop
        self._found: list[Gap | Notice] = []
        self._labels: dict[int, tuple[str, int]] = {}

    def facts(self) -> ServerFacts | None:
        """What the server told of itself; None when it wasn't reached."""
        if not self._host:
            return None
        return ServerFacts(host=self._host, version=self._version, uid=self._uid, not_served=self._not_served)

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | InputFile]:
        """Stream the cluster's objects, kind by kind; gaps and notices as they are met."""
        for event in self._reader.read(self._texts()):
            yield from self._drain()
            label, size = self._labels[event.token]
            if isinstance(event, DocumentRead):
                item = self._normalise(event, self._scope.cluster, label)
                # Nobody else has seen it yet, and a line of an answer that was never a file means nothing.
                msgspec.structs.force_setattr(item.ref, "line", None)
                yield item
                yield from unknown_places(event, self._scope.cluster, label, None)
            elif isinstance(event, NoticeRead):
                yield Notice(source=label, code=event.code, message=event.message)
            elif isinstance(event, ProblemRead):
                yield self._gap(
                    GapKind.UNREADABLE, label, f"an object: {one_line(event.message)} ({event.code})"
                )
            else:
                if event.problem:
                    yield self._gap(GapKind.UNREADABLE, label, one_line(event.problem.message))
                yield InputFile(
                    path=label,
                    cluster=self._scope.cluster,
                    sha256=event.sha256,
                    bytes=size,
                    documents=event.documents,
                )
                del self._labels[event.token]
                self._progress.advance()
        yield from self._drain()

    def _drain(self) -> Iterator[Gap | Notice]:
        found, self._found = self._found, []
        yield from found

    def _texts(self) -> Iterator[SourceText]:
        try:
            connection = Connection(self._scope.access)
        except ApiError as error:
            self._found.append(self._refused(error, self._scope.cluster, kinds=None))
            return
        try:
            yield from self._through(connection)
        finally:
            connection.close()

    def _through(self, connection: Connection) -> Iterator[SourceText]:
        patience = Patience(deadline=time.monotonic() + self._scope.seconds)
        try:
            served = served_by(connection)
        except ApiError as error:
            self._found.append(self._refused(error, connection.host, kinds=None))
            return
        self._host = connection.host
        self._identify(connection)
        wanted = self._wanted(served)
        token = itertools.count()
        for page in self._listed(connection, wanted, patience):
            if self._stop.is_set():
                self._found.append(
                    self._gap(GapKind.INTERRUPTED, page.kind.path, "stopped before everything was read")
                )
                return
            if not page.objects:
                continue
            data = _SEPARATOR.join(page.objects)
            number = next(token)
            label = page.kind.path if page.number == 1 else f"{page.kind.path}?page={page.number}"
            self._labels[number] = (label, len(data))
            yield SourceText(token=number, path=label, data=data)

    def _identify(self, connection: Connection) -> None:
        """Version and identity. A role may forbid either; then it is not known, and said so."""
        try:
            self._version = msgspec.json.decode(connection.get("/version"), type=_Version).git_version
        except (ApiError, msgspec.DecodeError):
            self._found.append(self._notice("version_unknown", "the server doesn't tell its version"))
        try:
            raw = connection.get("/api/v1/namespaces/kube-system")
            self._uid = msgspec.json.decode(raw, type=_Object).metadata.uid
        except (ApiError, msgspec.DecodeError) as error:
            reason = error.reason if isinstance(error, ApiError) else "it can't be read"
            self._found.append(
                self._notice(
                    "identity_unknown", f"namespace kube-system names the cluster, and was not seen: {reason}"
                )
            )

    def _wanted(self, served: Served) -> list[ServedKind]:
        wanted = [kind for kind in served.kinds if kind_listed(kind.key, self._scope.kinds)]
        known = {kind.key for kind in served.kinds}
        stale = set(served.stale)
        hidden = [key for key in self._scope.kinds if key.rpartition("/")[0] in stale]
        if hidden:
            groups = ", ".join(sorted(stale))
            gap = self._gap(
                GapKind.UNREACHABLE,
                groups,
                "the server behind these API groups doesn't answer",
                kinds=tuple(hidden),
            )
            self._found.append(gap)
        self._not_served = tuple(
            sorted(
                key for key in self._scope.kinds if key not in known and key not in hidden and "*" not in key
            )
        )
        if not self._scope.secret_metadata and any(kind.key == SECRET for kind in wanted):
            wanted = [kind for kind in wanted if kind.key != SECRET]
            gap = self._gap(
                GapKind.FORBIDDEN,
                "/api/v1/secrets",
                "Secrets are not listed unless the configuration asks for their metadata",
                kinds=(SECRET,),
                hint="set collect.secret_metadata: true; values are never read",
            )
            self._found.append(gap)
        return wanted

    def _listed(self, connection: Connection, wanted: list[ServedKind], patience: Patience) -> Iterator[Page]:
        """Pages in the order of kinds. The next kinds' first pages are asked for while one is read."""
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="list") as pool:
            ahead: collections.deque[
                tuple[ServedKind, Iterator[Page], concurrent.futures.Future[Page | None]]
            ] = collections.deque()
            waiting = iter(wanted)

            def begin() -> None:
                if (kind := next(waiting, None)) is not None:
                    listed = pages(connection, kind, patience, metadata_only=kind.key == SECRET)
                    ahead.append((kind, listed, pool.submit(next, listed, None)))

            for _ in range(_AT_ONCE):
                begin()
            while ahead:
                kind, listed, first = ahead.popleft()
                begin()
                yield from self._of_kind(kind, listed, first, pool)

    def _of_kind(
        self,
        kind: ServedKind,
        listed: Iterator[Page],
        first: concurrent.futures.Future[Page | None],
        pool: concurrent.futures.Executor,
    ) -> Iterator[Page]:
        coming = first
        restarted = False
        try:
            while (page := coming.result()) is not None:
                coming = pool.submit(next, listed, None)
                restarted = page.restarted
                yield page
        except ApiError as error:
            self._found.append(self._refused(error, kind.path, kinds=(kind.key,)))
        if restarted:
            message = (
                f"the list of {kind.plural} expired and was begun again: its objects are not of one moment"
            )
            self._found.append(self._notice("list_restarted", message))

    def _refused(self, error: ApiError, source: str, *, kinds: tuple[str, ...] | None) -> Gap:
        kind = error.kind
        if kind is GapKind.ABSENT and kinds is not None:
            kind = GapKind.UNREACHABLE  # discovery named it, so it is not a kind that isn't there
        return self._gap(kind, source, error.reason, kinds=kinds, hint=error.hint)

    def _gap(
        self, kind: GapKind, source: str, reason: str, *, kinds: tuple[str, ...] | None = None, hint: str = ""
    ) -> Gap:
        return Gap(
            kind=kind, cluster=self._scope.cluster, source=source, reason=reason, kinds=kinds, hint=hint
        )

    def _notice(self, code: str, message: str) -> Notice:
        return Notice(source=self._scope.cluster, code=code, message=message)
