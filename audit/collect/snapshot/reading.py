"""A snapshot as a stream of objects and gaps: the same that its cluster gave, as far as the rules need it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import msgspec

from audit.collect.cluster.pages import Normalise, PageReader, Replayed, nothing_left_of, page_label
from audit.collect.cluster.source import restarted_list
from audit.collect.cluster.wanted import SECRET, wanted_of
from audit.collect.snapshot.form import Line, Listed, SnapshotError
from audit.collect.snapshot.lines import LineLimits, LineProblem, check_file, lines_of
from audit.collect.snapshot.opening import Opened
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile, ServerFacts
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink, StopSignal


class SnapshotScope(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot, and what of it is wanted."""

    cluster: str
    """Name in this audit, which may be another than the collector's."""
    opened: Opened
    kinds: tuple[str, ...]
    """Kind keys that the rules need; ``group/*`` is every kind of a group."""
    limits: LineLimits


class SnapshotSource:
    """A `SubjectSource` over one snapshot.

    Args:
        scope: what to read.
        reader: the running native reader: it finds places again, by the tables of this audit, and redacts a second time.
        normalise: turns a document into an object.
        progress: told of every page.
        stop: asked between pages.
    """

    def __init__(
        self,
        scope: SnapshotScope,
        reader: Reader,
        normalise: Normalise,
        *,
        progress: ProgressSink,
        stop: StopSignal,
    ) -> None:
        self._scope = scope
        self._manifest = scope.opened.manifest
        self._reading = PageReader(scope.cluster, reader, normalise, progress)
        self._stop = stop
        self._found: list[Gap | Notice | InputFile] = []
        self._wanted = wanted_of(
            self._manifest.served(),
            scope.kinds,
            cluster=scope.cluster,
            # Who collected has decided whether Secrets are listed. Those that were are used.
            secrets=any(entry.kind.key == SECRET for entry in self._manifest.listed),
        )

    def facts(self) -> ServerFacts | None:
        """What the server told of itself; None when it wasn't reached."""
        server = self._manifest.server
        return server and msgspec.structs.replace(server, not_served=self._wanted.not_served)

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | InputFile]:
        """Stream the objects of the kinds that are needed; gaps and notices as they were met when it was collected."""
        self._found += self._scope.opened.notices
        yield from self._reading.read(self._texts(), self._drain)

    def _drain(self) -> Iterator[Gap | Notice | InputFile]:
        found, self._found = self._found, []
        yield from found

    def _texts(self) -> Iterator[SourceText]:
        self._found += [self._told_again(notice) for notice in self._manifest.notices]
        self._found += [self._again(gap) for gap in self._manifest.gaps]
        if self._manifest.server is None:
            return
        self._found += self._wanted.gaps
        listed = {entry.kind.key: entry for entry in self._manifest.listed}
        for kind in self._wanted.kinds:
            if self._stop.is_set():
                reason = "stopped before everything was read"
                self._found.append(self._gap(GapKind.INTERRUPTED, kind.path, reason, kinds=None))
                return
            entry = listed.get(kind.key)
            if entry is None:
                reason = f"{kind.plural} were not asked for when the cluster was collected"
                self._found.append(self._gap(GapKind.NOT_COLLECTED, kind.path, reason, kinds=(kind.key,)))
            else:
                yield from self._of_kind(entry)

    def _of_kind(self, entry: Listed) -> Iterator[SourceText]:
        key, place = entry.kind.key, self._scope.opened.place
        told: set[int] = set()
        try:
            if entry.file:
                check_file(place, entry)
                yield from self._pages(entry, told)
        except SnapshotError as error:
            gap = self._gap(error.kind, place.name, error.reason, kinds=(key,), hint=error.hint)
            self._found.append(gap)
        else:
            self._found += [
                nothing_left_of(page_label(entry.kind.path, page.number), self._scope.cluster, page.documents)
                for page in entry.pages
                if page.number not in told
            ]
        self._found += [self._again(gap) for gap in entry.gaps]
        self._found += [self._told_again(notice) for notice in entry.notices]
        if entry.restarted:
            self._found.append(restarted_list(entry.kind, self._scope.cluster))

    def _pages(self, entry: Listed, told: set[int]) -> Iterator[SourceText]:
        """The file page by page, as the server gave it."""
        documents = {page.number: page.documents for page in entry.pages}
        lines = self._taken(lines_of(self._scope.opened.place, entry, self._scope.limits), entry)
        for number, group in itertools.groupby(lines, key=lambda line: line.page):
            page = self._within_bounds(group, entry)
            told.add(number)
            replayed = Replayed(
                documents=documents.get(number, len(page)),
                numbers=tuple(line.document for line in page),
                redactions=tuple(line.redactions for line in page),
            )
            label = page_label(entry.kind.path, number)
            yield self._reading.text(label, (bytes(line.object) for line in page), replayed)

    def _taken(self, lines: Iterable[Line | LineProblem], entry: Listed) -> Iterator[Line]:
        for line in lines:
            if isinstance(line, Line):
                yield line
                continue
            reason = f"{entry.file}: line {line.number} {line.reason}"
            place = self._scope.opened.place.name
            self._found.append(self._gap(GapKind.UNTRUSTED, place, reason, kinds=(entry.kind.key,)))

    def _within_bounds(self, lines: Iterable[Line], entry: Listed) -> list[Line]:
        page: list[Line] = []
        size = 0
        for line in lines:
            size += len(bytes(line.object))
            if size > self._scope.limits.max_line_bytes:
                reason = f"{entry.file}: a page of more than {self._scope.limits.max_line_bytes} bytes (limits.max_file_bytes)"
                raise SnapshotError(GapKind.TOO_LARGE, reason)
            page.append(line)
        return page

    def _again(self, gap: Gap) -> Gap:
        """A gap of the collection, as one of this audit."""
        return msgspec.structs.replace(gap, cluster=self._scope.cluster, source=self._place(gap.source))

    def _told_again(self, notice: Notice) -> Notice:
        return msgspec.structs.replace(notice, source=self._place(notice.source))

    def _place(self, source: str) -> str:
        return self._scope.cluster if source == self._manifest.cluster else source

    def _gap(
        self, kind: GapKind, source: str, reason: str, *, kinds: tuple[str, ...] | None, hint: str = ""
    ) -> Gap:
        return Gap(
            kind=kind, cluster=self._scope.cluster, source=source, reason=reason, kinds=kinds, hint=hint
        )
