"""One registered cluster at a time: its objects spooled, its context gathered, its gaps and notices kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Self

import msgspec

from audit.collect.scope import OutOfScope, reason_out_of_scope
from audit.collect.spool import Spool
from audit.errors import CollectionError
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile, ServerFacts, SnapshotFacts
from audit.ports import (
    CollectedObject,
    MemberContext,
    PolicyNotes,
    ProgressSink,
    ProofSink,
    ScopeChoice,
    StopSignal,
    SubjectSource,
)


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A registered cluster, with what reads it."""

    name: str
    paths: tuple[str, ...]
    source: SubjectSource
    context: MemberContext
    out_of_scope: tuple[OutOfScope, ...] = ()
    kind: Literal["manifests", "live", "snapshot", "missing"] = "manifests"
    live: Callable[[], ServerFacts | None] | None = None
    """What the server told of itself, once it was read; None for manifests."""
    snapshot: SnapshotFacts | None = None
    gaps: tuple[Gap, ...] = ()
    """Known before anything of it is read."""
    region: str = ""
    tier: str = ""
    owner: str = ""
    asked: tuple[str, ...] | None = None
    """Kind keys that a server is, or was, asked for; None for manifests, of which everything is read."""
    notes: PolicyNotes | None = None
    """Watches the objects go by, to compare policies over clusters."""


class NothingSource:
    """A `SubjectSource` of a cluster of which nothing was given."""

    def collect(self) -> Iterator[CollectedObject | Gap]:
        """Nothing: the member's own gaps say why."""
        return iter(())


class Collected:
    """What was read of one cluster. Closing it gives the spool's space back; gaps and notices stay."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.name = member.name
        self.gaps: list[Gap] = []
        self.notices: list[Notice] = []
        self.subjects = 0
        self.has_owned = False
        """Whether anything names a controller."""
        self._spool = Spool()

    def __len__(self) -> int:
        return len(self._spool)

    @property
    def reached(self) -> bool:
        """Whether anything of the cluster was read: its folder was there and gave at least one object."""
        return self.subjects > 0

    @property
    def objects(self) -> Iterable[CollectedObject]:
        """Objects in the order read, derived subjects last; can be gone through several times at once."""
        return self._spool

    def inventory(self) -> bytes:
        """Context of the cluster's rules, as JSON."""
        return self.member.context.inventory()

    def keep(self, item: CollectedObject) -> None:
        """Spool one object for judging."""
        self._spool.append(item)
        self.subjects += 1
        self.has_owned = self.has_owned or item.controller is not None

    def close(self) -> None:
        """Remove the spool."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def collect_member(
    member: Member, proof: ProofSink, *, progress: ProgressSink, stop: StopSignal
) -> Collected:
    """Read everything of one cluster. A full disk ends the reading, not the run."""
    collected = Collected(member)
    progress.stage(f"Read {member.name}", None)
    try:
        for gap in member.gaps:
            _take(gap, collected, proof)
        in_scope = True
        for event in member.source.collect():
            if isinstance(event, CollectedObject):
                in_scope = _take_object(event, collected, proof)
            elif in_scope or not isinstance(event, Gap) or event.kind is not GapKind.UNKNOWN_TEMPLATE:
                _take(event, collected, proof)
        if not stop.is_set():
            _derive(collected, proof)
    except CollectionError as error:
        gap = _gap(collected, GapKind.INTERRUPTED, str(error))
        collected.gaps.append(gap)
        proof.see_gap(gap)
    if member.context.overflowed:
        gap = _gap(
            collected, GapKind.TOO_LARGE, "the objects that rules must see together are over their bound"
        )
        collected.gaps.append(gap)
    if not collected.subjects and not collected.gaps:
        gap = _gap(collected, GapKind.ABSENT, "no Kubernetes object was found")
        collected.gaps.append(gap)
        proof.see_gap(gap)
    return collected


def _take_object(item: CollectedObject, collected: Collected, proof: ProofSink) -> bool:
    """Keep an object for judging; False when its owner put it out of scope."""
    reason = reason_out_of_scope(collected.member.out_of_scope, item)
    if reason is not None:
        proof.see_out_of_scope(item.ref, reason)
        if collected.member.notes is not None:
            collected.member.notes.leave_out(item.ref)
        return False
    collected.member.context.see(item)
    if collected.member.notes is not None:
        collected.member.notes.see(item)
    collected.keep(item)
    proof.see_subject(item.ref)
    return True


def _take(event: Gap | Notice | ScopeChoice | InputFile, collected: Collected, proof: ProofSink) -> None:
    if isinstance(event, Gap):
        collected.gaps.append(event)
        proof.see_gap(event)
    elif isinstance(event, Notice):
        collected.notices.append(event)
        proof.see_notice(event)
    elif isinstance(event, ScopeChoice):
        proof.see_choice(collected.name, event)
    else:
        proof.see_input(event)


def _derive(collected: Collected, proof: ProofSink) -> None:
    """Subjects that no document declares, so that absence can fail; none for a cluster nothing was read of."""
    if not collected.subjects:
        return
    for item in collected.member.context.derived():
        collected.keep(item)
        proof.see_subject(item.ref)


def _gap(collected: Collected, kind: GapKind, reason: str) -> Gap:
    return Gap(kind=kind, cluster=collected.name, source=", ".join(collected.member.paths), reason=reason)
