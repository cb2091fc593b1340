"""What reads: the native reader, and one source of objects for each registered cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.collect.discovery import Selection
from audit.collect.manifests import ManifestScope, ManifestSource
from audit.collect.members import Member
from audit.collect.scope import OutOfScope
from audit.collect.texts import SourceTexts
from audit.config.schema import Config
from audit.library.library import Library
from audit.native.reader import Reader, ReadLimits
from audit.normalise.context import ClusterContext
from audit.normalise.identity import normalise_document
from audit.ports import ProgressSink, StopSignal
from audit.wiring.cores import jobs


def native_reader(config: Config, library: Library) -> Reader:
    """The reader, told which fields rules must see together and where pod templates are."""
    projections: dict[str, set[str]] = {}
    for rule in library.rules:
        for need in rule.context:
            for kind in need.kinds:
                key = f"{need.group}/{kind}" if need.group else kind
                projections.setdefault(key, set()).update(need.fields)
    return Reader(
        jobs=jobs(config),
        limits=ReadLimits(
            max_file_bytes=config.limits.max_file_bytes, memory_bytes=config.limits.memory_bytes
        ),
        projections={kind: sorted(fields) for kind, fields in sorted(projections.items())},
        pod_template_table=library.rule_set.data["pod_templates"],
    )


def members(
    config: Config,
    library: Library,
    selected: frozenset[str],
    reader: Reader,
    texts: SourceTexts,
    *,
    progress: ProgressSink,
    stop: StopSignal,
) -> Iterator[Member]:
    """The registered clusters, each with what reads it."""
    needed = {kind for rule in library.rules if rule.id in selected for kind in rule.context_kinds}
    workload_kinds = frozenset(library.rule_set.workload_kinds)
    for cluster in config.members():
        scope = ManifestScope(
            cluster=cluster.name,
            paths=cluster.paths,
            base=Path(),
            selection=Selection(
                include=config.files.include,
                exclude=tuple(entry.path for entry in config.scope.exclude if entry.path),
                respect_gitignore=config.files.gitignore,
            ),
            max_file_bytes=config.limits.max_file_bytes,
        )
        yield Member(
            name=cluster.name,
            paths=cluster.paths,
            source=ManifestSource(scope, reader, normalise_document, texts, progress=progress, stop=stop),
            context=ClusterContext(cluster.name, needed, workload_kinds=workload_kinds),
            out_of_scope=_out_of_scope(config),
        )


def _out_of_scope(config: Config) -> tuple[OutOfScope, ...]:
    return tuple(
        OutOfScope(
            reason=entry.reason,
            kind=entry.selector.kind,
            namespace=entry.selector.namespace,
            name=entry.selector.name,
            labels=entry.selector.labels,
        )
        for entry in config.scope.exclude
        if entry.selector
    )
