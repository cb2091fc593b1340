"""Whether the clusters of a fleet have the same policies, and where they differ."""

from __future__ import annotations

import enum
from typing import Literal

import msgspec


class ConsistencyState(enum.Enum):
    """What one policy is on one cluster, beside what it should be."""

    SAME = "same"
    """There, and means the same."""
    WEAKENED = "weakened"
    """There, and acts less: it reports what it should refuse, or lets through when it fails."""
    WIDENED = "widened"
    """There, and lets more through: a longer exclusion, a narrower match, a further right or subject."""
    MISSING = "missing"
    """Not there, and nothing hides it."""
    EXTRA = "extra"
    """There, and neither the baseline nor most clusters have it."""
    OTHER_VERSION = "other_version"
    """There, and says something else that is neither weaker nor wider."""
    NOT_SERVED = "not_served"
    """The server doesn't know the kind: whatever makes it act is not installed."""
    NOT_COMPARABLE = "not_comparable"
    """Nobody can say: it was not seen, or not all of it. Never the same."""
    NOT_DUE = "not_due"
    """Not there, and not expected there."""
    LEFT_OUT = "left_out"
    """Out of scope by the owner's choice."""

    @property
    def differs(self) -> bool:
        """Whether the cluster is known to be unlike what it should be."""
        return self in _DIFFERING


_DIFFERING = frozenset(
    {
        ConsistencyState.WEAKENED,
        ConsistencyState.WIDENED,
        ConsistencyState.MISSING,
        ConsistencyState.EXTRA,
        ConsistencyState.OTHER_VERSION,
        ConsistencyState.NOT_SERVED,
    }
)


class PolicyChange(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in which a policy is unlike what it is compared with."""

    kind: Literal["weakened", "widened", "stricter", "differs"]
    place: str
    """Rule or field."""
    reference: str = ""
    """What stands there in what it is compared with; empty when nothing does."""
    here: str = ""
    """What stands there on this cluster; empty when nothing does."""


class PolicyCell(msgspec.Struct, frozen=True, kw_only=True):
    """One policy on one cluster."""

    cluster: str
    state: ConsistencyState
    reason: str = ""
    """Why it can't be compared, as a code: a gap's kind, ``not_asked``, ``not_reached``, ``ambiguous``, ``redacted``,
    ``baseline``; else empty."""
    changes: tuple[PolicyChange, ...] = ()
    """The first ones, worst first."""
    more: int = 0
    """Changes that are not listed."""


class PolicyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One policy object over all clusters."""

    family: str
    """``rbac``, ``kyverno``, ``gatekeeper``, ``admission``, ``network``, ``istio``, ``linkerd`` or ``cilium``."""
    group: str
    kind: str
    namespace: str
    name: str
    against: Literal["baseline", "clusters"]
    """What it is compared with: the baseline, or the other clusters."""
    cells: tuple[PolicyCell, ...]
    """In the order of the clusters; those that are missing here are all `rest`."""
    rest: ConsistencyState
    """``same`` or ``not_due``: what holds on the clusters without a cell."""
    rest_clusters: int
    """How many clusters have no cell."""

    @property
    def title(self) -> str:
        """``Kind namespace/name`` for people."""
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"

    @property
    def differs(self) -> bool:
        """Whether any cluster is known to be unlike what it should be."""
        return any(cell.state.differs for cell in self.cells)

    def state_on(self, cluster: str) -> ConsistencyState:
        """What it is on a cluster."""
        return next((cell.state for cell in self.cells if cell.cluster == cluster), self.rest)


class EngineState(enum.Enum):
    """What makes policies act, on one cluster."""

    SAME = "same"
    OLDER = "older"
    """Another cluster, or the baseline, has a newer version."""
    MISSING = "missing"
    """Its policies are there or expected, and its controller is not."""
    STOPPED = "stopped"
    """Its controller has no replicas."""
    UNKNOWN = "unknown"
    """Deployments were not seen, or the image tells no version."""
    NOT_DUE = "not_due"


class EngineCell(msgspec.Struct, frozen=True, kw_only=True):
    """One engine on one cluster."""

    cluster: str
    state: EngineState
    version: str = ""
    """As the tag of the image says; several with a comma between them."""
    reason: str = ""
    """Why it is unknown, as a code; see `PolicyCell.reason`, and ``no_version``."""


class EngineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One engine over all clusters."""

    name: str
    newest: str
    """Version that the others are older than: the baseline's, else the newest that was seen. Empty when none was."""
    cells: tuple[EngineCell, ...]
    """One for each cluster."""


class DistributionClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What a distributing system says of one policy on one member, beside what the member shows. The member is believed."""

    source: Literal["karmada", "ocm"]
    hub: str
    """Cluster that holds the claim."""
    stated_by: str
    """Object that makes it: ``Kind namespace/name``."""
    cluster: str
    """Member it is about, as the hub calls it."""
    policy: str
    """``Kind namespace/name`` of the policy."""
    says: Literal["applied", "not_applied", "unknown"]
    shows: ConsistencyState | None
    """What the member shows; None when no cluster of that name, or no such policy, is in this audit."""
    agrees: bool | None
    """None when the member could not be compared, or the hub doesn't know."""


class ClusterPolicies(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster's sum."""

    cluster: str
    kind: str
    """As in the record: ``manifests``, ``live``, ``snapshot`` or ``missing``."""
    reached: bool
    same: int
    differing: int
    """Policies that are known to be unlike what they should be, engines not counted."""
    not_comparable: int
    role_bindings: int | None
    """RoleBindings and ClusterRoleBindings seen; None when they were not listed, or not all of them."""
    engines: int | None
    """Engines that are missing, stopped or older; None when none is known to be, and not all could be looked at."""
    collected_at: str
    """When a snapshot was collected, ISO 8601 UTC; empty for manifests, and for a running cluster, which is read now."""


class IgnoredPolicies(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration leaves out of the comparison."""

    what: str
    reason: str
    count: int
    """Policies that it left out."""


class UnseenKinds(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds of which nobody can say which policies there are."""

    reason: str
    """As `PolicyCell.reason`."""
    kinds: tuple[str, ...]
    """Kind keys; ``*/*`` is all of them."""
    clusters: tuple[str, ...]


class PolicyConsistency(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    baseline: str
    """Where the baseline is, as it was named; empty without one."""
    clusters: tuple[ClusterPolicies, ...]
    rows: tuple[PolicyRow, ...]
    """Those that differ first, then those that can't be compared somewhere, then by family, kind and name."""
    engines: tuple[EngineRow, ...]
    claims: tuple[DistributionClaim, ...]
    """Those that disagree first."""
    ignored: tuple[IgnoredPolicies, ...]
    unseen: tuple[UnseenKinds, ...]
    """What was not seen as a whole, also where no policy of the kind is known that could have a row."""
    built_in: int
    """Objects that API servers make and mend themselves, and that are not compared."""
    gaps: int
    """Cells and engines that could not be compared, and no gap that is allowed explains."""

    @property
    def differs(self) -> bool:
        """Whether anything is known to be unlike what it should be."""
        return any(row.differs for row in self.rows) or any(one.engines for one in self.clusters)

    def count(self, state: ConsistencyState) -> int:
        """Cells in one state."""
        return sum(
            sum(1 for cell in row.cells if cell.state is state)
            + (row.rest_clusters if row.rest is state else 0)
            for row in self.rows
        )
