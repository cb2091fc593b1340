"""Compares the policies of all clusters: of an audit that is running, or for their own sake."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from audit.assess.allow import mark_allowed
from audit.collect.artifacts.reading import Registry
from audit.collect.members import Collected, Member, collect_member
from audit.collect.texts import SourceTexts
from audit.config.consistency import ConsistencyConfig, PolicySelector
from audit.config.schema import DEFAULT_CLUSTER, ClusterConfig, Config
from audit.consistency.book import ClusterNotes, PolicyBook
from audit.consistency.compare import compare
from audit.consistency.expectation import (
    ClusterPattern,
    ClusterTraits,
    Expectation,
    Expected,
    Ignored,
    PolicyPattern,
)
from audit.consistency.kinds import WANTED
from audit.errors import CollectionError, UsageError
from audit.library.foreign.git import fetch, is_git, parse_git
from audit.model.consistency import PolicyConsistency
from audit.model.gap import Gap, GapKind, Notice
from audit.native.reader import Reader, ReadLimits
from audit.ports import Clock, ProgressSink, StopSignal
from audit.record.proof import Proof
from audit.redact import masked
from audit.wiring.collecting import Needs, members
from audit.wiring.cores import jobs
from audit.wiring.fleet import Fleet, fleet_of, names_snapshots
from audit.wiring.own_files import own_files

_BASELINE = "baseline"


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison for its own sake."""

    consistency: PolicyConsistency
    gaps: tuple[Gap, ...]
    """What was not seen, of clusters and of the baseline."""
    notices: tuple[Notice, ...]


class PolicyDesk:
    """Takes notes of every cluster, and compares them when all are read.

    Args:
        config: the baseline, and what is expected where.
        clock: says up to when the age of a snapshot counts.
    """

    def __init__(self, config: Config, clock: Clock) -> None:
        self._config = config
        self._said = config.consistency or ConsistencyConfig()
        self._clock = clock
        self._book = PolicyBook()

    def notes(self, cluster: str) -> ClusterNotes:
        """Where a cluster's policies are noted."""
        return self._book.cluster(cluster)

    def read_baseline(self, progress: ProgressSink, stop: StopSignal) -> tuple[Gap, ...]:
        """Read what should be there; what of it could not be read is a gap that hides nothing of any cluster.

        Raises:
            ContentError: its address is no pinned commit.
            UsageError: it is more than one cluster.
        """
        if self._said.baseline is None:
            return ()
        notes = self._book.expect()
        try:
            place = self._baseline_place(self._said.baseline)
        except CollectionError as error:
            gaps = [
                Gap(kind=GapKind.UNREACHABLE, cluster="", source=self._said.baseline, reason=error.message)
            ]
            notes.finish(gaps, reached=False)
            return tuple(msgspec.structs.replace(gap, kinds=()) for gap in gaps)
        config = Config(
            clusters=(ClusterConfig(name=_BASELINE, paths=(place,)),),
            snapshots=self._config.snapshots,
            limits=self._config.limits,
            jobs=self._config.jobs,
        )
        fleet = fleet_of(config, self._clock.now())
        if len(fleet.members) != 1:
            raise UsageError(
                f"{place} holds {len(fleet.members)} snapshots, and a baseline is one",
                suggestion="name that one",
            )
        with _reader(config) as reader:
            for member in _members(config, fleet, reader, notes, progress=progress, stop=stop):
                with collect_member(member, Proof(), progress=progress, stop=stop) as collected:
                    _finish(notes, collected, collected.gaps)
        return tuple(msgspec.structs.replace(gap, cluster="", kinds=()) for gap in notes.gaps)

    def result(self, collected: Sequence[Collected], gaps: Iterable[Gap]) -> PolicyConsistency | None:
        """Compare.

        Args:
            collected: every member, read.
            gaps: all gaps of the audit, those that are allowed marked.

        Returns:
            None for a single cluster of which nothing more was said.
        """
        if len(collected) < 2 and self._config.consistency is None:
            return None
        of: dict[str, list[Gap]] = {}
        for gap in gaps:
            of.setdefault(gap.cluster, []).append(gap)
        for one in collected:
            _finish(self._book.cluster(one.name), one, of.get(one.name, []))
        traits = [
            ClusterTraits(name=one.name, kind=one.member.kind, tier=one.member.tier, region=one.member.region)
            for one in collected
        ]
        return compare(self._book, traits, _expectation(self._said))

    def _baseline_place(self, text: str) -> str:
        if not is_git(text):
            return text
        cache = (Path(self._config.cache) if self._config.cache else Path.home() / ".cache") / "fleetaudit"
        return str(fetch(parse_git(text), cache / "policies"))


def compare_policies(config: Config, *, clock: Clock, progress: ProgressSink, stop: StopSignal) -> Compared:
    """Read what tells of policies from every cluster, and compare.

    Args:
        config: the clusters, the baseline, and what is expected where.
        clock: says up to when the age of a snapshot counts, and which tolerated gaps still are.
        progress: told how far it is.
        stop: asked between units of reading.

    Raises:
        ContentError: the address of the baseline is no pinned commit.
        UsageError: there is nothing to compare.
    """
    desk = PolicyDesk(config, clock)
    fleet = fleet_of(config, clock.now())
    said = config.consistency or ConsistencyConfig()
    if len(fleet.members) < 2 and said.baseline is None and not said.expected:
        raise UsageError(
            "one cluster is nothing to compare", suggestion="name another one, or a baseline with --baseline"
        )
    gaps: list[Gap] = [*desk.read_baseline(progress, stop), *fleet.gaps]
    read: list[Collected] = []
    with _reader(config) as reader:
        for member in _members(config, fleet, reader, desk, progress=progress, stop=stop):
            with collect_member(member, Proof(), progress=progress, stop=stop) as collected:
                read.append(collected)
    gaps += [gap for one in read for gap in one.gaps if gap.kind is not GapKind.UNKNOWN_TEMPLATE]
    marked = mark_allowed(gaps, config.allowed_gaps(), clock.now())
    found = desk.result(read, marked)
    if found is None:  # one member, and a baseline on the command line is in the configuration by now
        raise UsageError("one cluster is nothing to compare")
    notices = (*fleet.notices, *(notice for one in read for notice in one.notices))
    return Compared(consistency=masked(found), gaps=masked(marked), notices=masked(notices))


def clusters_of(paths: Sequence[str], *, registered: bool) -> tuple[ClusterConfig, ...]:
    """Each folder or file of manifests as a cluster of its own, called by its last part; snapshots as they are."""
    snapshots = [path for path in paths if registered or names_snapshots(path)]
    found = [ClusterConfig(name=DEFAULT_CLUSTER, paths=tuple(snapshots))] if snapshots else []
    manifests = [match for path in paths if path not in snapshots for match in _matches(path)]
    names = [Path(path).resolve().name or path for path in manifests]
    for name, path in zip(names, manifests, strict=True):
        found.append(ClusterConfig(name=name if names.count(name) == 1 else path, paths=(path,)))
    return tuple(found)


def _matches(path: str) -> list[str]:
    if Path(path).exists() or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path)) or [path]


def _reader(config: Config) -> Reader:
    limits = ReadLimits(max_file_bytes=config.limits.max_file_bytes, memory_bytes=config.limits.memory_bytes)
    return Reader(jobs=jobs(config), limits=limits)


def _members(
    config: Config,
    fleet: Fleet,
    reader: Reader,
    notes: PolicyDesk | ClusterNotes,
    *,
    progress: ProgressSink,
    stop: StopSignal,
) -> Iterator[Member]:
    return members(
        config,
        Needs(wanted=WANTED),
        reader,
        SourceTexts(Path()),
        own_files(config, Path(config.output.folder)),
        fleet=fleet,
        artifacts=Registry(()),
        notes=notes.notes if isinstance(notes, PolicyDesk) else lambda _: notes,
        progress=progress,
        stop=stop,
    )


def _finish(notes: ClusterNotes, collected: Collected, gaps: Iterable[Gap]) -> None:
    member = collected.member
    facts = member.live() if member.live is not None else None
    notes.finish(
        gaps,
        reached=collected.reached or facts is not None,
        asked=member.asked,
        not_served=facts.not_served if facts is not None else (),
        collected_at=member.snapshot.collected_at if member.snapshot is not None else "",
    )


def _expectation(said: ConsistencyConfig) -> Expectation:
    return Expectation(
        baseline=said.baseline or "",
        expected=tuple(
            Expected(
                policies=tuple(map(_pattern, entry.policies)),
                on=ClusterPattern(names=entry.clusters, tier=entry.tier, region=entry.region),
            )
            for entry in said.expected
        ),
        ignored=tuple(Ignored(policies=_pattern(entry), reason=entry.reason) for entry in said.ignore),
    )


def _pattern(selector: PolicySelector) -> PolicyPattern:
    return PolicyPattern(kind=selector.kind, namespace=selector.namespace, name=selector.name)
