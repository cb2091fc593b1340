"""Manifests from files, folders, globs and stdin: one cluster's documents as a stream of objects and gaps."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from audit.collect.discovery import (
    FoundFile,
    FoundFolder,
    LeftOut,
    Selection,
    Unreadable,
    discover,
)
from audit.collect.messages import without_values
from audit.collect.rendering import NotRendered, Rendered, plan_kustomize, render_chart, render_kustomization
from audit.collect.texts import SourceTexts
from audit.model.finding import render_path
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile
from audit.native.events import DocumentRead, FileDone, NoticeRead, ProblemRead
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink, StopSignal

STDIN = "-"

Normalise = Callable[[DocumentRead, str, str], CollectedObject]
"""(document, cluster, source) to object."""


class ManifestScope(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster's manifests: where they are and what of them is wanted."""

    cluster: str
    paths: tuple[str, ...]
    """Files, folders, globs or ``-``; relative ones count from `base`."""
    base: Path
    selection: Selection = Selection()
    max_file_bytes: int = 64 << 20
    max_rendered_bytes: int = 64 << 20


class _Source(msgspec.Struct, frozen=True):
    label: str
    rendered: bool
    size: int


class ManifestSource:
    """A `SubjectSource` over manifests.

    Args:
        scope: what to read.
        reader: the running native reader, shared by all clusters.
        texts: told where each text is, for places asked later.
        normalise: turns a document into an object; handed in, because stages don't know each other.
        progress: told of every file.
        stop: asked between files.
    """

    def __init__(
        self,
        scope: ManifestScope,
        reader: Reader,
        normalise: Normalise,
        texts: SourceTexts,
        *,
        progress: ProgressSink,
        stop: StopSignal,
    ) -> None:
        self._scope = scope
        self._reader = reader
        self._normalise = normalise
        self._texts_kept = texts
        self._progress = progress
        self._stop = stop
        self._sources: dict[int, _Source] = {}
        self._found: list[Gap | Notice] = []

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | InputFile]:
        """Stream the cluster's objects in file order; gaps and notices as they are met."""
        for event in self._reader.read(self._texts()):
            yield from self._drain()
            source = self._sources[event.token]
            if isinstance(event, DocumentRead):
                yield self._normalise(event, self._scope.cluster, source.label)
                for path in event.unknown_templates:
                    yield self._unknown_template(event, source, path)
            elif isinstance(event, NoticeRead):
                yield Notice(
                    source=source.label,
                    code=event.code,
                    message=event.message,
                    line=None if source.rendered else event.line,
                    document=event.document,
                )
            elif isinstance(event, ProblemRead):
                yield self._gap(
                    GapKind.UNREADABLE,
                    source.label,
                    f"document {event.document}: {without_values(event.message)} ({event.code})",
                    line=None if source.rendered else event.line,
                )
            else:
                yield from self._file_done(event, source)
                del self._sources[event.token]
                self._progress.advance()
        yield from self._drain()

    def _drain(self) -> Iterator[Gap | Notice]:
        found, self._found = self._found, []
        yield from found

    def _file_done(self, event: FileDone, source: _Source) -> Iterator[Gap | InputFile]:
        if problem := event.problem:
            kind = GapKind.TOO_LARGE if problem.code == "too_large" else GapKind.UNREADABLE
            line = None if source.rendered or not problem.line else problem.line
            yield self._gap(
                kind, source.label, f"{without_values(problem.message)} ({problem.code})", line=line
            )
        if not source.rendered:
            self._texts_kept.seen(source.label, event.sha256)
        yield InputFile(
            path=source.label,
            cluster=self._scope.cluster,
            sha256=event.sha256,
            bytes=source.size,
            documents=event.documents,
        )

    def _unknown_template(self, event: DocumentRead, source: _Source, path: tuple[str | int, ...]) -> Gap:
        where = f"{event.group}/{event.kind}" if event.group else event.kind
        return Gap(
            kind=GapKind.UNKNOWN_TEMPLATE,
            cluster=self._scope.cluster,
            source=source.label,
            line=None if source.rendered else event.line,
            reason=f"{event.kind} {event.name} runs containers at {render_path(path) or 'its root'} that no table names",
            # Every rule about pods may have something to say of it, so nothing that rests on such a rule is decided.
            kinds=None,
            hint=f"add {where} to a pod_templates file and name it in the configuration",
        )

    def _texts(self) -> Iterator[SourceText]:
        for token, (label, data, rendered) in enumerate(self._contents()):
            if self._stop.is_set():
                self._found.append(
                    self._gap(GapKind.INTERRUPTED, label, "stopped before it and what follows was read")
                )
                return
            self._sources[token] = _Source(label, rendered, len(data))
            yield SourceText(token=token, path=label, data=data)

    def _contents(self) -> Iterator[tuple[str, bytes, bool]]:
        """(label, bytes, rendered) of everything to read, gaps noted on the way."""
        for text in self._scope.paths:
            if text == STDIN:
                data = sys.stdin.buffer.read(self._scope.max_file_bytes + 1)
                self._texts_kept.keep(STDIN, data)
                yield STDIN, data, False
                continue
            for root in self._roots(text):
                yield from self._root_contents(root)

    def _roots(self, text: str) -> list[Path]:
        path = self._scope.base / text
        if path.exists() or not glob.has_magic(text):
            return [path]
        matches = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
        if not matches:
            self._found.append(self._gap(GapKind.ABSENT, text, "no file matches this pattern"))
        return matches

    def _root_contents(self, root: Path) -> Iterator[tuple[str, bytes, bool]]:
        files: list[Path] = []
        charts: list[Path] = []
        kustomizations: list[Path] = []
        left_out: dict[str, list[Path]] = {}
        for found in discover(root, self._scope.selection):
            if isinstance(found, FoundFile):
                files.append(found.path)
            elif isinstance(found, FoundFolder):
                (charts if found.tool == "helm" else kustomizations).append(found.path)
            elif isinstance(found, LeftOut):
                left_out.setdefault(found.reason, []).append(found.path)
            elif isinstance(found, Unreadable):
                kind = GapKind.ABSENT if found.reason.startswith("no such") else GapKind.UNREADABLE
                self._found.append(self._gap(kind, self._label(found.path), found.reason))
        self._say_left_out(left_out)
        plan = plan_kustomize(kustomizations)
        for path in files:
            if path.resolve() in plan.covered:
                self._found.append(
                    Notice(
                        source=self._label(path),
                        code="part_of_kustomization",
                        message="judged through the kustomization that takes it in",
                    )
                )
                continue
            yield from self._file_contents(path)
        limit = self._scope.max_rendered_bytes
        yield from self._renderings(render_kustomization(root, max_bytes=limit) for root in plan.roots)
        yield from self._renderings(render_chart(folder, max_bytes=limit) for folder in charts)

    def _renderings(self, outcomes: Iterable[Rendered | NotRendered]) -> Iterator[tuple[str, bytes, bool]]:
        for outcome in outcomes:
            label = self._label(outcome.folder)
            if isinstance(outcome, Rendered):
                yield label, outcome.data, True
            else:
                gap = self._gap(
                    GapKind.NOT_RENDERED, label, f"{outcome.tool}: {outcome.reason}", hint=outcome.hint
                )
                self._found.append(gap)

    def _file_contents(self, path: Path) -> Iterator[tuple[str, bytes, bool]]:
        label = self._label(path)
        try:
            size = path.stat().st_size
            if size > self._scope.max_file_bytes:
                limit = self._scope.max_file_bytes
                reason = f"{size} bytes, limit {limit} (limits.max_file_bytes)"
                self._found.append(self._gap(GapKind.TOO_LARGE, label, reason))
                return
            data = path.read_bytes()
        except OSError as error:
            kind = GapKind.FORBIDDEN if isinstance(error, PermissionError) else GapKind.UNREADABLE
            self._found.append(self._gap(kind, label, error.strerror or "unreadable"))
            return
        yield label, data, False

    def _say_left_out(self, left_out: dict[str, list[Path]]) -> None:
        texts = {
            "excluded": "left out by --exclude or scope.exclude",
            "not_included": "not matched by --include",
            "gitignored": "ignored by .gitignore (read them with --no-gitignore)",
            "other_type": "neither YAML nor JSON",
            "version_control": "version control or dependency folders",
        }
        for reason, paths in sorted(left_out.items()):
            names = ", ".join(self._label(path) for path in paths[:3])
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            self._found.append(
                Notice(
                    source=self._label(paths[0].parent),
                    code=reason,
                    message=f"{len(paths)} {texts[reason]}: {names}{more}",
                    count=len(paths),
                )
            )

    def _label(self, path: Path) -> str:
        try:
            return path.relative_to(self._scope.base).as_posix()
        except ValueError:
            return path.as_posix()

    def _gap(
        self, kind: GapKind, source: str, reason: str, *, line: int | None = None, hint: str = ""
    ) -> Gap:
        return Gap(
            kind=kind,
            cluster=self._scope.cluster,
            source=source,
            reason=reason,
            line=line,
            kinds=None,
            hint=hint,
        )
