"""Where which policies are expected, and what is not compared."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

import msgspec

from audit.consistency.book import PolicyKey


class PolicyPattern(msgspec.Struct, frozen=True, kw_only=True):
    """Policies by what they are; ``*`` and ``?`` are wildcards, and what is empty says nothing."""

    kind: str = ""
    """``Kind`` or ``group/Kind``."""
    namespace: str = ""
    name: str = ""

    def means(self, policy: PolicyKey) -> bool:
        """Whether a policy is among them."""
        group, _, kind = policy.key.rpartition("/")
        if self.kind and not any(fnmatch.fnmatchcase(one, self.kind) for one in (kind, f"{group}/{kind}")):
            return False
        return _like(policy.namespace, self.namespace) and _like(policy.name, self.name)

    def exact(self) -> PolicyKey | None:
        """The one policy that is meant, as far as it can be told: a whole kind with its group, and a name without wildcards."""
        if (
            "/" not in self.kind
            or not self.name
            or any(c in f"{self.kind}{self.namespace}{self.name}" for c in "*?[")
        ):
            return None
        return PolicyKey(self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        named = "/".join(part for part in (self.namespace, self.name) if part)
        return " ".join(part for part in (self.kind, named) if part) or "everything"


class ClusterPattern(msgspec.Struct, frozen=True, kw_only=True):
    """Clusters by name, tier and region; ``*`` and ``?`` are wildcards, and what is empty says nothing."""

    names: tuple[str, ...] = ()
    tier: str = ""
    region: str = ""

    def means(self, cluster: ClusterTraits) -> bool:
        """Whether a cluster is among them."""
        named = not self.names or any(_like(cluster.name, name) for name in self.names)
        return named and _like(cluster.tier, self.tier) and _like(cluster.region, self.region)


class ClusterTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What is registered of a cluster."""

    name: str
    kind: str = "manifests"
    tier: str = ""
    region: str = ""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """Policies that are expected on some clusters, and on no others."""

    policies: tuple[PolicyPattern, ...]
    on: ClusterPattern = ClusterPattern()


class Ignored(msgspec.Struct, frozen=True, kw_only=True):
    """Policies that are not compared."""

    policies: PolicyPattern
    reason: str


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """All that was said of what is expected."""

    expected: tuple[Expected, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    baseline: str = ""
    """Where the baseline is, for people; empty without one."""

    def due_on(self, policy: PolicyKey, clusters: Iterable[ClusterTraits]) -> frozenset[str] | None:
        """Clusters on which a policy is expected; None when nothing was said of it."""
        entries = [entry for entry in self.expected if any(one.means(policy) for one in entry.policies)]
        if not entries:
            return None
        return frozenset(one.name for one in clusters if any(entry.on.means(one) for entry in entries))

    def named(self) -> list[PolicyKey]:
        """Policies that are expected by name, whether anybody has them or not."""
        return [
            exact for entry in self.expected for one in entry.policies if (exact := one.exact()) is not None
        ]


def _like(text: str, pattern: str) -> bool:
    return not pattern or fnmatch.fnmatchcase(text, pattern)
