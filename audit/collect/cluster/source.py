"""A running cluster as a stream of objects and gaps. Memory holds a few pages, however large the cluster is."""

from __future__ import annotations

import collections
import concurrent.futures
import time
from collections.abc import Iterator, Sequence

import msgspec

from audit.collect.cluster.connection import Access, Connection
from audit.collect.cluster.failures import ApiError
from audit.collect.cluster.kinds import Served, ServedKind
from audit.collect.cluster.listing import Page, Patience, pages
from audit.collect.cluster.pages import Normalise, PageReader, page_label
from audit.collect.cluster.served import served_by
from audit.collect.cluster.wanted import SECRET, Wanted, wanted_of
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile, ServerFacts
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink, StopSignal

RESTARTED = "list_restarted"
_AT_ONCE = 4


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
    uid: str = ""
    """Of namespace kube-system, as the register says; empty when it says nothing."""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _Meta(msgspec.Struct):
    uid: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class Discovered(msgspec.Struct, frozen=True, kw_only=True):
    """What a server serves, and what became of it."""

    served: Served | None
    """None when it wasn't reached."""
    asked: tuple[ServedKind, ...]
    """Kinds that were asked for: each was listed, or is behind a gap."""
    beforehand: tuple[Gap, ...]
    """Gaps that follow from discovery and from what is wanted, not from a refusal."""
    restarted: frozenset[str]
    """Keys of the kinds whose list expired and was begun again."""


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
        self._reading = PageReader(scope.cluster, reader, normalise, progress)
        self._stop = stop
        self._found: list[Gap | Notice] = []
        self._served: Served | None = None
        self._wanted: Wanted | None = None
        self._restarted: set[str] = set()

    def facts(self) -> ServerFacts | None:
        """What the server told of itself; None when it wasn't reached."""
        if not self._host:
            return None
        not_served = self._wanted.not_served if self._wanted else ()
        return ServerFacts(host=self._host, version=self._version, uid=self._uid, not_served=not_served)

    def discovered(self) -> Discovered:
        """What discovery told, and what was asked for."""
        return Discovered(
            served=self._served,
            asked=self._wanted.kinds if self._wanted else (),
            beforehand=self._wanted.gaps if self._wanted else (),
            restarted=frozenset(self._restarted),
        )

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | InputFile]:
        """Stream the cluster's objects, kind by kind; gaps and notices as they are met."""
        yield from self._reading.read(self._texts(), self._drain)

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
        self._served = served
        if not self._is_expected(connection):
            return
        scope = self._scope
        wanted = wanted_of(served, scope.kinds, cluster=scope.cluster, secrets=scope.secret_metadata)
        self._wanted = wanted
        self._found += wanted.gaps
        for page in self._listed(connection, wanted.kinds, patience):
            if self._stop.is_set():
                self._found.append(
                    self._gap(GapKind.INTERRUPTED, page.kind.path, "stopped before everything was read")
                )
                return
            if not page.objects:
                continue
            yield self._reading.text(page_label(page.kind.path, page.number), page.objects)

    def _identify(self, connection: Connection) -> None:
        """Version and identity. A role may forbid either; then it is not known, and said so."""
        if not connection.verified:
            self._found.append(
                self._notice("server_unverified", "no certificate was checked: who answered, nobody knows")
            )
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

    def _is_expected(self, connection: Connection) -> bool:
        """Whether the server is the cluster that the register means; it is not read under another's name."""
        expected = self._scope.uid
        if not expected or expected == self._uid:
            return True
        if self._uid:
            reason = f"the register says uid {expected}, and the server answers as {self._uid}"
            gap = self._gap(
                GapKind.FOREIGN, connection.host, reason, hint="mend the context, or the register"
            )
        else:
            reason = f"the register says uid {expected}, and the role doesn't show namespace kube-system"
            hint = "`fleetaudit rbac` prints the least role that the loaded rules need"
            gap = self._gap(GapKind.FORBIDDEN, connection.host, reason, hint=hint)
        self._found.append(gap)
        return False

    def _listed(
        self, connection: Connection, wanted: Sequence[ServedKind], patience: Patience
    ) -> Iterator[Page]:
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
            self._restarted.add(kind.key)
            self._found.append(restarted_list(kind, self._scope.cluster))

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


def restarted_list(kind: ServedKind, cluster: str) -> Notice:
    """What is said of a list that expired on the way."""
    message = f"the list of {kind.plural} expired and was begun again: its objects are not of one moment"
    return Notice(source=cluster, code=RESTARTED, message=message)
