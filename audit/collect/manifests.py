"""Manifests from files, folders, globs and stdin: one cluster's documents as a stream of objects and gaps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from audit.collect.artifacts.reading import Artifact, ArtifactReader, Registry, look_at
from audit.collect.evidence import evidence_of
from audit.collect.gathering import STDIN, ManifestScope, gather, left_out
from audit.collect.messages import without_values
from audit.collect.rendering import (
    KustomizePlan,
    NotRendered,
    Rendered,
    plan_kustomize,
    render_chart,
    render_kustomization,
)
from audit.collect.texts import SourceTexts
from audit.collect.unknown_places import unknown_places
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile
from audit.model.subject import CLUSTER_GROUP, EVIDENCE_GROUP
from audit.native.events import DocumentRead, FileDone, NoticeRead, ProblemRead
from audit.native.reader import Reader, SourceText
from audit.ports import CollectedObject, ProgressSink, ScopeChoice, StopSignal

Normalise = Callable[[DocumentRead, str, str], CollectedObject]
"""(document, cluster, source) to object."""


EVIDENCE = "evidence"


class _Source(msgspec.Struct):
    label: str
    size: int
    rendered_by: str
    """``helm``, ``kustomize``, ``evidence`` for the facts of a file that is no manifest, or empty for a file."""
    silent: bool = True
    """Nothing was read of it yet, and nothing was wrong with it."""
    noticed: bool = False
    """Something was said of it."""
    sha256: str = ""
    """Of the file, where what is read is not the file itself."""


def _is_forged(event: DocumentRead, source: _Source) -> bool:
    """A manifest that says it is what a reader made of evidence, or a subject that nobody stores."""
    return event.group in (EVIDENCE_GROUP, CLUSTER_GROUP) and source.rendered_by != EVIDENCE


class ManifestSource:
    """A `SubjectSource` over manifests.

    Args:
        scope: what to read.
        reader: the running native reader, shared by all clusters.
        texts: told where each text is, for places asked later.
        normalise: turns a document into an object; handed in, because stages don't know each other.
        progress: told of every file.
        stop: asked between files.
        artifacts: readers of what is evidence and no manifest.
    """

    def __init__(
        self,
        scope: ManifestScope,
        reader: Reader,
        normalise: Normalise,
        texts: SourceTexts,
        *,
        artifacts: Registry,
        progress: ProgressSink,
        stop: StopSignal,
    ) -> None:
        self._scope = scope
        self._reader = reader
        self._normalise = normalise
        self._texts_kept = texts
        self._artifacts = artifacts
        self._progress = progress
        self._stop = stop
        self._sources: dict[int, _Source] = {}
        self._found: list[Gap | Notice | ScopeChoice] = []

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | ScopeChoice | InputFile]:
        """Stream the cluster's objects in file order; gaps and notices as they are met."""
        for event in self._reader.read(self._texts()):
            yield from self._drain()
            source = self._sources[event.token]
            line = 0 if isinstance(event, FileDone) or source.rendered_by else event.line
            if isinstance(event, DocumentRead) and _is_forged(event, source):
                source.silent = False
                yield self._scope.gap(
                    GapKind.UNREADABLE,
                    source.label,
                    f"{event.kind} {event.name}: only fleetaudit's own readers state facts about evidence, no manifest does",
                    line=line or None,
                )
            elif isinstance(event, DocumentRead):
                source.silent = False
                yield self._normalise(event, self._scope.cluster, source.label)
                yield from unknown_places(event, self._scope.cluster, source.label, line or None)
            elif isinstance(event, NoticeRead):
                source.noticed = True
                yield Notice(
                    source=source.label,
                    code=event.code,
                    message=event.message,
                    line=line or None,
                    document=event.document,
                )
            elif isinstance(event, ProblemRead):
                source.silent = False
                yield self._scope.gap(
                    GapKind.UNREADABLE,
                    source.label,
                    f"document {event.document}: {without_values(event.message)} ({event.code})",
                    line=line or None,
                )
            else:
                yield from self._file_done(event, source)
                del self._sources[event.token]
                self._progress.advance()
        yield from self._drain()

    def _drain(self) -> Iterator[Gap | Notice | ScopeChoice]:
        found, self._found = self._found, []
        yield from found

    def _file_done(self, event: FileDone, source: _Source) -> Iterator[Gap | Notice | InputFile]:
        if problem := event.problem:
            kind = GapKind.TOO_LARGE if problem.code == "too_large" else GapKind.UNREADABLE
            line = None if source.rendered_by or not problem.line else problem.line
            yield self._scope.gap(
                kind, source.label, f"{without_values(problem.message)} ({problem.code})", line=line
            )
        elif source.rendered_by and source.silent:
            yield self._rendered_to_nothing(source)
        elif source.silent and not source.noticed:
            yield Notice(source=source.label, code="empty_file", message="nothing stands in the file")
        if not source.rendered_by:
            self._texts_kept.seen(source.label, event.sha256)
        yield InputFile(
            path=source.label,
            cluster=self._scope.cluster,
            sha256=source.sha256 or event.sha256,
            bytes=source.size,
            documents=event.documents,
        )

    def _rendered_to_nothing(self, source: _Source) -> Gap | Notice:
        if source.rendered_by == "helm":
            return self._scope.gap(
                GapKind.NOT_RENDERED,
                source.label,
                "helm: rendered to no object with the chart's default values",
                hint="audit the output with the values you deploy: helm template DIR -f FILE | fleetaudit run -",
            )
        # A kustomization takes no values: what it builds here is what it builds everywhere.
        return Notice(
            source=source.label, code="rendered_to_nothing", message="the kustomization rendered to no object"
        )

    def _texts(self) -> Iterator[SourceText]:
        for token, (source, data) in enumerate(self._contents()):
            if self._stop.is_set():
                self._found.append(
                    self._scope.gap(
                        GapKind.INTERRUPTED, source.label, "stopped before it and what follows was read"
                    )
                )
                return
            self._sources[token] = source
            yield SourceText(token=token, path=source.label, data=data)

    def _contents(self) -> Iterator[tuple[_Source, bytes]]:
        """Everything to read, gaps noted on the way."""
        gathered = gather(self._scope, self._artifacts.suffixes)
        self._found += gathered.notes
        plan = plan_kustomize(gathered.kustomizations)
        covered: list[Path] = []
        others: list[Path] = []
        for path in gathered.files:
            if path is None:
                data = sys.stdin.buffer.read(self._scope.max_file_bytes + 1)
                self._texts_kept.keep(STDIN, data)
                yield _Source(STDIN, len(data), ""), data
            elif path.resolve() in plan.covered:
                covered.append(path)
            else:
                artifact, readers = self._readers_of(path)
                if artifact is not None and readers:
                    yield from self._evidence(artifact, readers)
                if not all(reader.shares for reader in readers):
                    continue
                if path in gathered.only_evidence and not readers:
                    others.append(path)
                elif path not in gathered.only_evidence:
                    yield from self._file_contents(path)
        if others:
            self._found.append(left_out(self._scope, "other_type", others))
        yield from self._built(plan, covered)
        for folder in gathered.charts:
            yield from self._rendering(render_chart(folder, max_bytes=self._scope.max_rendered_bytes))

    def _built(self, plan: KustomizePlan, covered: list[Path]) -> Iterator[tuple[_Source, bytes]]:
        """What kustomizations build, and what is said of the files that they take in."""
        judged: set[Path] = set()
        for root in plan.roots:
            outcome = render_kustomization(root, max_bytes=self._scope.max_rendered_bytes)
            yield from self._rendering(outcome)
            if isinstance(outcome, Rendered):
                judged |= plan.takes_in[root.folder]
        for unbuilt in plan.unbuilt:
            yield from self._rendering(unbuilt)
        # Of a file that no build took in, the gap of the failed build is all there is to say.
        self._found += [
            Notice(
                source=self._scope.label(path),
                code="part_of_kustomization",
                message="judged through the kustomization that takes it in",
            )
            for path in covered
            if path.resolve() in judged
        ]

    def _rendering(self, outcome: Rendered | NotRendered) -> Iterator[tuple[_Source, bytes]]:
        label = self._scope.label(outcome.folder)
        if isinstance(outcome, Rendered):
            yield _Source(label, len(outcome.data), outcome.tool), outcome.data
        else:
            reason = f"{outcome.tool}: {outcome.reason}"
            self._found.append(self._scope.gap(GapKind.NOT_RENDERED, label, reason, hint=outcome.hint))

    def _readers_of(self, path: Path) -> tuple[Artifact | None, tuple[ArtifactReader, ...]]:
        try:
            artifact = look_at(path, self._scope.label(path), max_bytes=self._scope.max_file_bytes)
        except OSError:
            return None, ()  # told where it is read as a manifest
        return artifact, self._artifacts.readers_of(artifact)

    def _evidence(
        self, artifact: Artifact, readers: tuple[ArtifactReader, ...]
    ) -> Iterator[tuple[_Source, bytes]]:
        evidence = evidence_of(artifact, readers, self._scope.cluster)
        self._found += (*evidence.gaps, *evidence.notices)
        if evidence.documents:
            sha256 = self._artifacts.digests.sha256(artifact.path)
            source = _Source(artifact.label, artifact.size, EVIDENCE, sha256=sha256)
            yield source, evidence.documents

    def _file_contents(self, path: Path) -> Iterator[tuple[_Source, bytes]]:
        label = self._scope.label(path)
        try:
            size = path.stat().st_size
            if size > self._scope.max_file_bytes:
                limit = self._scope.max_file_bytes
                reason = f"{size} bytes, limit {limit} (limits.max_file_bytes)"
                self._found.append(self._scope.gap(GapKind.TOO_LARGE, label, reason))
                return
            data = path.read_bytes()
        except OSError as error:
            kind = GapKind.FORBIDDEN if isinstance(error, PermissionError) else GapKind.UNREADABLE
            self._found.append(self._scope.gap(kind, label, error.strerror or "unreadable"))
            return
        yield _Source(label, len(data), ""), data
