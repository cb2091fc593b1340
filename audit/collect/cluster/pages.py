"""Pages of one kind become objects, gaps and the record of what was read; the same for a server and for a snapshot of one."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator

import msgspec

from audit.collect.cluster.failures import one_line
from audit.collect.unknown_places import unknown_places
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile
from audit.native.events import DocumentRead, FileDone, NoticeRead, ProblemRead, Redaction
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink

SEPARATOR = b"\n---\n"

Normalise = Callable[[DocumentRead, str, str], CollectedObject]
"""(document, cluster, source) to object."""


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a page that was read before, when it was collected."""

    documents: int
    """That it had; those that could not be read are not here any more."""
    numbers: tuple[int, ...]
    """Place of each object in the page, from 1."""
    redactions: tuple[tuple[Redaction, ...], ...]
    """Of each object."""


class _Open(msgspec.Struct):
    label: str
    size: int
    replayed: Replayed | None


def page_label(path: str, number: int) -> str:
    """Source of the objects of a page."""
    return path if number == 1 else f"{path}?page={number}"


class PageReader:
    """Sends pages through the native reader, and says what came of them.

    Args:
        cluster: whose pages they are.
        reader: the running reader: it redacts before anything else sees an object.
        normalise: turns a document into an object.
        progress: told of every page.
    """

    def __init__(self, cluster: str, reader: Reader, normalise: Normalise, progress: ProgressSink) -> None:
        self._cluster = cluster
        self._reader = reader
        self._normalise = normalise
        self._progress = progress
        self._open: dict[int, _Open] = {}
        self._tokens = itertools.count()

    def text(self, label: str, objects: Iterable[bytes], replayed: Replayed | None = None) -> SourceText:
        """A page as the reader takes it; each object as one JSON text."""
        data = SEPARATOR.join(objects)
        token = next(self._tokens)
        self._open[token] = _Open(label, len(data), replayed)
        return SourceText(token=token, path=label, data=data)

    def read(
        self, texts: Iterable[SourceText], drain: Callable[[], Iterable[Gap | Notice | InputFile]]
    ) -> Iterator[CollectedObject | Gap | Notice | InputFile]:
        """What the pages hold.

        Args:
            texts: pages made by `text`.
            drain: what was met beside the pages since it was last asked.
        """
        for event in self._reader.read(texts):
            yield from drain()
            page = self._open[event.token]
            if isinstance(event, DocumentRead):
                yield self._object(event, page)
                yield from unknown_places(event, self._cluster, page.label, None)
            elif isinstance(event, NoticeRead):
                yield Notice(source=page.label, code=event.code, message=event.message)
            elif isinstance(event, ProblemRead):
                yield self._unreadable(page.label, f"an object: {one_line(event.message)} ({event.code})")
            else:
                yield from self._done(event, page)
                del self._open[event.token]
                self._progress.advance()
        yield from drain()

    def _object(self, event: DocumentRead, page: _Open) -> CollectedObject:
        item = self._normalise(event, self._cluster, page.label)
        # Nobody else has seen it yet, and a line of an answer that was never a file means nothing.
        msgspec.structs.force_setattr(item.ref, "line", None)
        if page.replayed is not None:
            index = event.document - 1
            msgspec.structs.force_setattr(item.ref, "document", page.replayed.numbers[index])
            if before := page.replayed.redactions[index]:
                msgspec.structs.force_setattr(item, "redactions", (*before, *item.redactions))
        return item

    def _done(self, event: FileDone, page: _Open) -> Iterator[Gap | InputFile]:
        if event.problem:
            yield self._unreadable(page.label, one_line(event.problem.message))
        yield InputFile(
            path=page.label,
            cluster=self._cluster,
            sha256=event.sha256,
            bytes=page.size,
            documents=page.replayed.documents if page.replayed else event.documents,
        )

    def _unreadable(self, label: str, reason: str) -> Gap:
        return Gap(kind=GapKind.UNREADABLE, cluster=self._cluster, source=label, reason=reason)


def nothing_left_of(label: str, cluster: str, documents: int) -> InputFile:
    """The record of a collected page of which no object could be read."""
    return InputFile(
        path=label, cluster=cluster, sha256=hashlib.sha256(b"").hexdigest(), bytes=0, documents=documents
    )
