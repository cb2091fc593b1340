"""What reads: the native reader, and one source of objects for each registered cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from audit.collect.artifacts.reading import Registry
from audit.collect.discovery import Selection
from audit.collect.gathering import ManifestScope
from audit.collect.ignore_files import is_pattern
from audit.collect.manifests import ManifestSource
from audit.collect.members import Member, NothingSource
from audit.collect.own_files import OwnFiles
from audit.collect.scope import OutOfScope
from audit.collect.texts import SourceTexts
from audit.config.schema import ClusterConfig, Config, ServerConfig
from audit.consistency.kinds import WANTED as POLICY_KINDS
from audit.errors import UsageError
from audit.evaluate.runner import READER
from audit.library.library import Library
from audit.model.run import SnapshotFacts
from audit.model.subject import CLUSTER_GROUP, EVERY_KIND, EVIDENCE_GROUP
from audit.native.reader import Reader, ReadLimits
from audit.normalise.context import ClusterContext
from audit.normalise.identity import SUCCESSORS, normalise_document
from audit.ports import PolicyNotes, ProgressSink, StopSignal
from audit.wiring.cores import jobs
from audit.wiring.fleet import Fleet

if TYPE_CHECKING:
    from audit.collect.snapshot.opening import Opened

_NEVER_SERVED = frozenset({CLUSTER_GROUP, EVIDENCE_GROUP})
"""Groups of subjects that no API server stores."""


def native_reader(config: Config, library: Library) -> Reader:
    """The reader, told which fields rules must see together and where pod templates are."""
    projections: dict[str, set[str]] = {}
    for rule in library.rules:
        for need in rule.context:
            for kind in need.kinds:
                key = f"{need.group}/{kind}" if need.group else kind
                projections.setdefault(key, set()).update(need.fields)
    # The reader sees an object under the group it is written with; its fields are needed under either.
    for (group, kind), successor in SUCCESSORS.items():
        if fields := projections.get(f"{successor}/{kind}"):
            projections.setdefault(f"{group}/{kind}", set()).update(fields)
    return Reader(
        jobs=jobs(config),
        limits=ReadLimits(
            max_file_bytes=config.limits.max_file_bytes, memory_bytes=config.limits.memory_bytes
        ),
        projections={kind: sorted(fields) for kind, fields in sorted(projections.items())},
        pod_template_table=library.rule_set.data["pod_templates"],
    )


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of each member."""

    wanted: tuple[str, ...]
    """Kinds that a running cluster is asked for."""
    context: frozenset[str] = frozenset()
    """Kinds that rules must see together."""
    workload_kinds: frozenset[str] = frozenset()


def needs_of(config: Config, library: Library, selected: frozenset[str]) -> Needs:
    """What the selected rules need, and the comparison of policies where the configuration asks for it."""
    return Needs(
        wanted=wanted_kinds(config, library, selected),
        context=frozenset(
            kind for rule in library.rules if rule.id in selected for kind in rule.context_kinds
        ),
        workload_kinds=frozenset(library.rule_set.workload_kinds),
    )


def members(
    config: Config,
    needs: Needs,
    reader: Reader,
    texts: SourceTexts,
    own: OwnFiles,
    *,
    fleet: Fleet,
    artifacts: Registry,
    notes: Callable[[str], PolicyNotes],
    progress: ProgressSink,
    stop: StopSignal,
) -> Iterator[Member]:
    """The members of the fleet, each with what reads it."""
    wanted = needs.wanted
    for one in fleet.members:
        said = one.registered or one.cluster or ClusterConfig(name=one.name)
        context = ClusterContext(one.name, needs.context, workload_kinds=needs.workload_kinds)
        member = Member(
            name=one.name,
            paths=(),
            source=NothingSource(),
            context=context,
            out_of_scope=_out_of_scope(config),
            kind="missing",
            gaps=tuple(one.gaps),
            region=said.region,
            tier=said.tier,
            owner=said.owner,
            notes=notes(one.name),
        )
        if one.opened is not None:
            yield _collected(config, member, one.opened, wanted, reader, progress=progress, stop=stop)
        elif one.cluster is None:
            yield member
        elif one.cluster.server is not None:
            uid = (one.registered.uid if one.registered else None) or ""
            yield _live(
                config, member, one.cluster.server, wanted, reader, uid=uid, progress=progress, stop=stop
            )
        else:
            scope = ManifestScope(
                cluster=one.name,
                paths=one.cluster.paths,
                base=Path(),
                selection=_selection(config),
                own=own,
                max_file_bytes=config.limits.max_file_bytes,
            )
            source = ManifestSource(
                scope,
                reader,
                normalise_document,
                texts,
                artifacts=artifacts,
                progress=progress,
                stop=stop,
            )
            yield replace(member, kind="manifests", paths=one.cluster.paths, source=source)


def _selection(config: Config) -> Selection:
    selection = Selection(
        include=config.files.include,
        exclude=tuple(entry.path for entry in config.scope.exclude if entry.path),
        respect_gitignore=config.files.gitignore,
    )
    for pattern in (*selection.include, *selection.exclude):
        if not is_pattern(pattern):
            raise UsageError(
                f"{pattern} is no pattern in .gitignore syntax",
                suggestion="mend --include, --exclude, files.include or scope.exclude",
            )
    return selection


def wanted_kinds(config: Config, library: Library, selected: frozenset[str]) -> tuple[str, ...]:
    """Kinds that a running cluster is asked for: those that the selected rules judge or must see, and those to compare."""
    wanted: set[str] = set(POLICY_KINDS) if config.consistency is not None else set()
    for rule in library.rules:
        if rule.id not in selected or rule.engine == READER:
            continue
        wanted.update(rule.kinds or (EVERY_KIND,), rule.context_kinds)
    return tuple(sorted(kind for kind in wanted if kind.rpartition("/")[0] not in _NEVER_SERVED))


def _live(
    config: Config,
    member: Member,
    server: ServerConfig,
    wanted: tuple[str, ...],
    reader: Reader,
    *,
    uid: str,
    progress: ProgressSink,
    stop: StopSignal,
) -> Member:
    from audit.collect.cluster.source import ClusterScope, ClusterSource
    from audit.wiring.snapshots import access_of

    scope = ClusterScope(
        cluster=member.name,
        access=access_of(server),
        kinds=wanted,
        secret_metadata=server.secret_metadata,
        seconds=config.limits.cluster_seconds,
        uid=uid,
    )
    source = ClusterSource(scope, reader, normalise_document, progress=progress, stop=stop)
    paths = (server.context or member.name,)
    return replace(member, kind="live", paths=paths, source=source, live=source.facts, asked=wanted)


def _collected(
    config: Config,
    member: Member,
    opened: Opened,
    wanted: tuple[str, ...],
    reader: Reader,
    *,
    progress: ProgressSink,
    stop: StopSignal,
) -> Member:
    from audit.collect.snapshot.lines import LineLimits
    from audit.collect.snapshot.reading import SnapshotScope, SnapshotSource

    limits = LineLimits(
        max_content_bytes=config.snapshots.max_kind_bytes, max_line_bytes=config.limits.max_file_bytes
    )
    scope = SnapshotScope(cluster=member.name, opened=opened, kinds=wanted, limits=limits)
    source = SnapshotSource(scope, reader, normalise_document, progress=progress, stop=stop)
    facts = SnapshotFacts(
        collected_at=opened.manifest.collected_at,
        sha256=opened.sha256,
        signed_by=opened.signed_by,
        fleetaudit=opened.manifest.fleetaudit,
        collected_as=opened.manifest.cluster,
    )
    return replace(
        member,
        kind="snapshot",
        paths=(opened.place.name,),
        source=source,
        live=source.facts,
        snapshot=facts,
        asked=wanted,
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
