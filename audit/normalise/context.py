"""What one cluster's rules may see beside their subject, and the subjects no document declares. Pure.

`ClusterContext` watches the objects of one cluster go by. Afterwards it gives the inventory of context rules
(``data.inventory``) and the derived Namespace and Cluster subjects of "X must exist" rules, so that absence fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from audit.model.subject import CLUSTER_GROUP, SubjectRef, kind_key
from audit.ports import CollectedObject

CLUSTER_KIND = "Cluster"


class ClusterContext:
    """Context of one cluster.

    Args:
        cluster: its name.
        kinds: `kind_key`s that some rule needs as context; each is in the inventory, empty or not. ``group/*`` collects
            every kind of a group.
        workload_kinds: kinds with pod templates, which run in a namespace even where they name none.
        max_bytes: bound on the projections kept; beyond it `overflowed` is set and the rest is dropped,
            which makes every answer that rests on context an error.
    """

    def __init__(
        self,
        cluster: str,
        kinds: Iterable[str],
        *,
        workload_kinds: frozenset[str] = frozenset(),
        max_bytes: int = 512 << 20,
    ) -> None:
        self.cluster = cluster
        self.overflowed = False
        self.bytes = 0
        self._workload_kinds = workload_kinds
        self._max_bytes = max_bytes
        self._projections: dict[str, dict[str, list[bytes]]] = {kind: {} for kind in sorted(kinds)}
        self._namespaces: set[str] = set()
        self._declared: set[str] = set()

    def see(self, item: CollectedObject) -> None:
        """Take note of one object."""
        ref = item.ref
        if ref.kind_key == "Namespace":
            self._declared.add(ref.name)
        elif ref.namespace:
            self._namespaces.add(ref.namespace)
        elif ref.kind_key in self._workload_kinds:
            # Where it will run is not said; its questions are asked of the namespace it gets when nobody says more.
            self._namespaces.add("default")
        if item.projection:
            for key in (ref.kind_key, f"{ref.group}/*"):
                kinds = self._projections.get(key)
                if kinds is None or self.overflowed:
                    continue
                self.bytes += len(item.projection)
                if self.bytes > self._max_bytes:
                    self.overflowed = True
                    return
                kinds.setdefault(ref.namespace, []).append(item.projection)

    def inventory(self) -> bytes:
        """JSON object: kind key to namespace to array of projected objects."""
        parts = []
        for kind, namespaces in self._projections.items():
            inside = b",".join(
                json.dumps(namespace).encode() + b":[" + b",".join(objects) + b"]"
                for namespace, objects in sorted(namespaces.items())
            )
            parts.append(json.dumps(kind).encode() + b":{" + inside + b"}")
        return b"{" + b",".join(parts) + b"}"

    def derived(self) -> Iterator[CollectedObject]:
        """The Cluster subject, then a Namespace for each one used but not declared, in name order."""
        yield _derived(self.cluster, CLUSTER_GROUP, "v1", CLUSTER_KIND, self.cluster)
        for name in sorted(self._namespaces - self._declared):
            yield _derived(self.cluster, "", "v1", "Namespace", name)


def context_kinds(needs: Iterable[tuple[str, tuple[str, ...]]]) -> frozenset[str]:
    """Kind keys of (group, kinds) pairs."""
    return frozenset(kind_key(group, kind) for group, kinds in needs for kind in kinds)


def _derived(cluster: str, group: str, version: str, kind: str, name: str) -> CollectedObject:
    api_version = f"{group}/{version}" if group else version
    raw = json.dumps(
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}, separators=(",", ":")
    ).encode()
    return CollectedObject(
        ref=SubjectRef(
            cluster=cluster,
            group=group,
            version=version,
            kind=kind,
            name=name,
            digest=hashlib.sha256(raw).hexdigest(),
            derived=True,
            owner_kind=kind,
            owner_name=name,
        ),
        raw=raw,
    )
