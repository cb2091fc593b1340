"""Who is a member of the audited fleet: what the configuration names, what was given, and what the register expects.

Nothing is believed by its name. A snapshot is the registered cluster whose uid it has, signed with that cluster's key; a
running cluster must answer under the uid that the register says. Whatever is registered stays a member, reached or not.
"""

from __future__ import annotations

import datetime as dt
import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.collect.snapshot.form import Manifest, SnapshotError
from audit.collect.snapshot.opening import Opened, open_snapshot
from audit.collect.snapshot.signing import TrustedKey
from audit.collect.snapshot.storage import addresses_matching, is_address, is_snapshot
from audit.config.fleet import RegisteredCluster
from audit.config.schema import DEFAULT_CLUSTER, ClusterConfig, Config
from audit.errors import UsageError
from audit.model.gap import Gap, GapKind, Notice

_SKEW = dt.timedelta(minutes=10)
"""Clocks of two machines may differ by that much."""


class FleetMember(msgspec.Struct, kw_only=True):
    """A member, and what of it is at hand: manifests or a server, a snapshot, or nothing."""

    name: str
    cluster: ClusterConfig | None = None
    opened: Opened | None = None
    registered: RegisteredCluster | None = None
    gaps: list[Gap] = []


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """All members, and what was given that belongs to none."""

    members: tuple[FleetMember, ...]
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(member.name for member in self.members)


class _Given(msgspec.Struct, kw_only=True):
    """A snapshot that was named, and what came of opening it."""

    text: str
    name: str = ""
    """What the user calls its cluster; empty when that is left to the snapshot."""
    opened: Opened | None = None
    error: SnapshotError | None = None


def fleet_of(config: Config, now: dt.datetime) -> Fleet:
    """Open every snapshot's manifest, and say who is a member.

    Args:
        config: clusters, paths and register.
        now: the moment up to which ages are counted.

    Raises:
        UsageError: manifests and snapshots are given as one cluster, or no installed package knows an address.
    """
    keys = [TrustedKey(name=key.name, path=Path(key.path)) for key in config.snapshots.keys]
    gathering = _Gathering(config, now)
    given: list[_Given] = []
    for cluster in config.members():
        snapshots = _snapshots_of(cluster, registered=bool(config.fleet))
        if snapshots is None:
            gathering.take_cluster(cluster)
        else:
            given += snapshots
    for one in given:
        if one.error is None:
            try:
                one.opened = open_snapshot(one.text, keys)
            except SnapshotError as error:
                one.error = error
    gathering.take_snapshots(given)
    return gathering.finish()


def _snapshots_of(cluster: ClusterConfig, *, registered: bool) -> list[_Given] | None:
    """The snapshots that a cluster of the configuration stands for; None when it stands for none."""
    if cluster.snapshot is not None:
        return [_Given(text=cluster.snapshot, name=cluster.name)]
    if cluster.server is not None:
        return None
    found: list[_Given] = []
    others: list[str] = []
    for text in cluster.paths:
        snapshots = list(_expanded(text))
        found += snapshots
        if not snapshots:
            others.append(text)
    unnamed = cluster.name == DEFAULT_CLUSTER
    if registered and unnamed:
        found += [_none_at(text) for text in others]
    elif others and found:
        raise UsageError(
            f"{others[0]} is no snapshot, and others are: they are not one cluster",
            suggestion="audit manifests by themselves, or list both under clusters in fleetaudit.yaml",
        )
    elif others:
        return None
    if len(found) == 1 and not unnamed:
        found[0].name = cluster.name
    return found


def names_snapshots(text: str) -> bool:
    """Whether a path, a pattern or an address names snapshots, and no manifests."""
    return is_address(text) or any(True for _ in _expanded(text))


def _expanded(text: str) -> Iterator[_Given]:
    """The snapshots that a path, a pattern, an address or a folder of snapshots names."""
    if is_address(text):
        try:
            addresses = addresses_matching(text)
        except OSError as error:
            reason = f"the store doesn't answer: {error}"
            yield _Given(text=text, error=SnapshotError(GapKind.UNREACHABLE, reason))
            return
        yield from (_Given(text=address) for address in addresses)
        if not addresses:
            yield _none_at(text)
        return
    path = Path(text)
    matches = [path] if path.exists() or not glob.has_magic(text) else map(Path, sorted(glob.glob(text)))
    for match in matches:
        if is_snapshot(match):
            yield _Given(text=str(match))
        elif match.is_dir():
            yield from (_Given(text=str(child)) for child in sorted(match.iterdir()) if is_snapshot(child))


def _none_at(text: str) -> _Given:
    return _Given(text=text, error=SnapshotError(GapKind.ABSENT, "no snapshot is there"))


class _Gathering:
    """Puts the members together."""

    def __init__(self, config: Config, now: dt.datetime) -> None:
        self._fleet = config.fleet
        self._register = config.register or ""
        self._now = now
        self._members: dict[str, FleetMember] = {
            entry.name: FleetMember(name=entry.name, registered=entry) for entry in config.fleet
        }
        self._of_nobody: list[Gap] = []
        self._notices: list[Notice] = []

    def take_cluster(self, cluster: ClusterConfig) -> None:
        """Manifests, or a running cluster."""
        entry = self._members.get(cluster.name)
        if entry is not None:
            entry.cluster = cluster
        elif self._fleet and cluster.server is not None:
            self._foreign(cluster.name, f"{cluster.name} is not in the register, and was not audited")
        else:
            self._members[cluster.name] = FleetMember(name=cluster.name, cluster=cluster)

    def take_snapshots(self, given: Sequence[_Given]) -> None:
        """All that were named."""
        opened = [one for one in given if one.opened is not None]
        for one in given:
            if one.error is not None:
                self._unopened(one, one.error)
        alike: dict[str, list[_Given]] = {}
        seen: set[str] = set()
        for one in opened:
            sha256 = _opened(one).sha256
            if sha256 in seen:
                message = "reached a second time, and counted once"
                self._notices.append(Notice(source=one.text, code="already_read", message=message))
                continue
            seen.add(sha256)
            alike.setdefault(_manifest(one).uid or sha256, []).append(one)
        if not self._fleet:
            self._name_alike([group[0] for group in alike.values()])
        for group in alike.values():
            group.sort(key=_collected, reverse=True)
            self._take_alike(group)

    def finish(self) -> Fleet:
        """The members, the registered ones first."""
        for member in self._members.values():
            if member.cluster is None and member.opened is None and not member.gaps:
                reason = f"{member.name} is registered, and neither a snapshot of it nor the cluster itself was given"
                member.gaps.append(self._gap(member, GapKind.ABSENT, self._register, reason))
        return Fleet(
            members=tuple(self._members.values()), gaps=tuple(self._of_nobody), notices=tuple(self._notices)
        )

    def _name_alike(self, firsts: Sequence[_Given]) -> None:
        """Two clusters that their collectors call alike are still two."""
        names = Counter(one.name or _manifest(one).cluster for one in firsts)
        for one in firsts:
            if not one.name and names[_manifest(one).cluster] > 1:
                identity = _manifest(one).uid or _opened(one).sha256
                one.name = f"{_manifest(one).cluster}@{identity[:8]}"

    def _unopened(self, one: _Given, error: SnapshotError) -> None:
        if self._fleet:
            # Whose it is nobody knows. The cluster it may be of is missing all the same.
            self._of_nobody.append(
                Gap(
                    kind=error.kind,
                    cluster="",
                    source=one.text,
                    reason=error.reason,
                    kinds=(),
                    hint=error.hint,
                )
            )
            return
        name = self._free_name(one.name or one.text.rstrip("/").rpartition("/")[2] or one.text)
        member = FleetMember(name=name)
        member.gaps.append(self._gap(member, error.kind, one.text, error.reason, hint=error.hint))
        self._members[name] = member

    def _free_name(self, name: str) -> str:
        number, free = 1, name
        while free in self._members:
            number += 1
            free = f"{name}@{number}"
        return free

    def _take_alike(self, group: Sequence[_Given]) -> None:
        """Snapshots of one cluster, the newest first: that one is judged, and the others are said."""
        newest = group[0]
        if self._fleet:
            member = self._registered(newest)
        else:
            name = self._free_name(newest.name or _manifest(newest).cluster)
            member = self._members[name] = FleetMember(name=name)
        if member is None:
            return
        refusal = self._refused(member, newest)
        if refusal is not None:
            member.gaps.append(refusal)
        elif _manifest(newest).server is None and self._fleet:
            manifest = _manifest(newest)
            member.gaps += [
                msgspec.structs.replace(gap, cluster=member.name, source=newest.text) for gap in manifest.gaps
            ]
        else:
            member.opened = newest.opened
        for other in group[1:]:
            reason = f"another snapshot of {member.name}; that of {_manifest(newest).collected_at} was judged"
            hint = (
                "name one snapshot for each cluster; clusters restored from one copy of etcd need a uid each"
            )
            member.gaps.append(self._gap(member, GapKind.DUPLICATE, other.text, reason, hint=hint))

    def _registered(self, one: _Given) -> FleetMember | None:
        """The registered cluster that a snapshot is of, by uid and never by name."""
        manifest = _manifest(one)
        for member in self._members.values():
            entry = member.registered
            if entry is not None and manifest.uid and entry.uid == manifest.uid:
                if one.name and one.name != entry.name:
                    break
                return member
            if entry is not None and manifest.server is None and entry.name == (one.name or manifest.cluster):
                return member  # not reached when it was collected: it can say why, and nothing else
        told = f"uid {manifest.uid}" if manifest.uid else "no uid, because its collector did not see one"
        reason = f"a snapshot of {manifest.cluster}, {told}: the register knows no such cluster"
        if one.name in self._members:
            member = self._members[one.name]
            reason = f"the register means another cluster than this one, of {told}"
            member.gaps.append(self._gap(member, GapKind.FOREIGN, one.text, reason))
        else:
            self._foreign(one.text, reason)
        return None

    def _refused(self, member: FleetMember, one: _Given) -> Gap | None:
        """Why a snapshot of the right cluster is not judged."""
        entry, opened = member.registered, _opened(one)
        age = self._now - opened.manifest.collected()
        if entry is None:
            if age < -_SKEW:
                message = f"collected at {opened.manifest.collected_at}, which is later than this audit"
                self._notices.append(Notice(source=one.text, code="snapshot_from_future", message=message))
            return None
        if entry.key is not None and opened.signed_by != entry.key:
            signed = (
                f"signed with {opened.signed_by}" if opened.signed_by else "its signature was not checked"
            )
            reason = f"{signed}, and the register says that {entry.key} signs for {member.name}"
            return self._gap(member, GapKind.UNTRUSTED, one.text, reason)
        oldest = entry.oldest()
        if oldest is not None and not -_SKEW <= age <= oldest:
            said = "later than this audit" if age < -_SKEW else f"longer ago than {entry.max_age} (max_age)"
            reason = f"{member.name} was collected at {opened.manifest.collected_at}, {said}"
            return self._gap(member, GapKind.LATE, one.text, reason, hint="collect the cluster again")
        return None

    def _foreign(self, source: str, reason: str) -> None:
        hint = f"add the cluster to {self._register}, or leave it out of the audit"
        self._of_nobody.append(
            Gap(kind=GapKind.FOREIGN, cluster="", source=source, reason=reason, kinds=(), hint=hint)
        )

    def _gap(self, member: FleetMember, kind: GapKind, source: str, reason: str, *, hint: str = "") -> Gap:
        return Gap(kind=kind, cluster=member.name, source=source, reason=reason, kinds=None, hint=hint)


def _opened(one: _Given) -> Opened:
    assert one.opened is not None  # noqa: S101  # only opened ones come here
    return one.opened


def _manifest(one: _Given) -> Manifest:
    return _opened(one).manifest


def _collected(one: _Given) -> str:
    return _manifest(one).collected_at
