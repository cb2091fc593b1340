"""Which kinds a server serves, each once, in the version it prefers. From aggregated discovery (Kubernetes 1.26 and newer).

Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery; older servers are asked group by
group.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from audit.collect.cluster.connection import Connection
from audit.collect.cluster.failures import ApiError
from audit.collect.cluster.kinds import Served, ServedKind
from audit.model.gap import GapKind

_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
_LIST = "list"
T = TypeVar("T")


class _ResponseKind(msgspec.Struct):
    kind: str = ""


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    scope: str = ""
    response_kind: _ResponseKind = msgspec.field(default_factory=_ResponseKind)
    verbs: list[str] = []


class _Version(msgspec.Struct):
    version: str
    resources: list[_Resource] = []
    freshness: str = "Current"


class _Name(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_Version] = []


class _Discovery(msgspec.Struct):
    kind: str = ""
    items: list[_Group] = []


class _LegacyResource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool = False
    verbs: list[str] = []


class _LegacyResources(msgspec.Struct):
    resources: list[_LegacyResource] = []


class _LegacyVersion(msgspec.Struct):
    version: str


class _LegacyGroup(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_LegacyVersion] = []
    preferred_version: _LegacyVersion | None = None


class _LegacyGroups(msgspec.Struct):
    groups: list[_LegacyGroup] = []


def served_by(connection: Connection) -> Served:
    """Ask the server.

    Raises:
        ApiError: it doesn't answer.
    """
    kinds: dict[str, ServedKind] = {}
    stale: list[str] = []
    for path in ("/api", "/apis"):
        body = connection.get(path, accept=_AGGREGATED)
        found = _decoded(body, _Discovery)
        if found.kind != "APIGroupDiscoveryList":
            _legacy(connection, body, kinds, stale, core=path == "/api")
            continue
        for group in found.items:
            _aggregated(group, kinds, stale)
    return Served(kinds=tuple(kinds[key] for key in sorted(kinds)), stale=tuple(sorted(set(stale))))


def _aggregated(group: _Group, kinds: dict[str, ServedKind], stale: list[str]) -> None:
    # The server's order of versions is its preference. A kind is listed in the first that has it.
    for version in group.versions:
        if version.freshness != "Current":
            stale.append(group.metadata.name)
        for resource in version.resources:
            served = ServedKind(
                group=group.metadata.name,
                version=version.version,
                kind=resource.response_kind.kind,
                plural=resource.resource,
                namespaced=resource.scope == "Namespaced",
            )
            if _LIST in resource.verbs and served.kind:
                kinds.setdefault(served.key, served)


def _legacy(
    connection: Connection, body: bytes, kinds: dict[str, ServedKind], stale: list[str], *, core: bool
) -> None:
    groups = (
        [_LegacyGroup(name="", versions=[_LegacyVersion("v1")])]
        if core
        else _decoded(body, _LegacyGroups).groups
    )
    for group in groups:
        preferred = [group.preferred_version] if group.preferred_version else []
        for version in (*preferred, *group.versions):
            root = f"/apis/{group.name}" if group.name else "/api"
            try:
                listed = _decoded(connection.get(f"{root}/{version.version}"), _LegacyResources)
            except ApiError:
                stale.append(group.name)
                continue
            for resource in listed.resources:
                served = ServedKind(
                    group=group.name,
                    version=version.version,
                    kind=resource.kind,
                    plural=resource.name,
                    namespaced=resource.namespaced,
                )
                if _LIST in resource.verbs and "/" not in resource.name:
                    kinds.setdefault(served.key, served)


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ApiError(
            GapKind.UNREACHABLE, "the server's list of kinds can't be read; is it an API server?"
        ) from error
