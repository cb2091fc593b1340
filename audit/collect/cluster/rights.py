"""The rights an audit needs, and those it has. Both follow from the kinds that the selected rules judge or must see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from audit.collect.cluster.connection import Access, Connection
from audit.collect.cluster.failures import ApiError
from audit.collect.cluster.served import served_by
from audit.model.api_resources import built_in_kinds, built_in_plural, guess_plural
from audit.model.gap import GapKind
from audit.model.subject import EVERY_KIND, kind_listed

ROLE = "fleetaudit-reader"
_SECRET = "Secret"
_VERBS = ["get", "list"]


def least_role(kinds: Iterable[str], *, secret_metadata: bool = False) -> dict[str, Any]:
    """A ClusterRole with nothing but reading, and nothing but what is needed.

    Args:
        kinds: kind keys; ``group/*`` is a whole group, ``*/*`` everything.
        secret_metadata: Secrets too. Rights know no "metadata only": who may list them may read their values.
    """
    wanted = set(kinds) | {"Namespace"}
    if EVERY_KIND in wanted:
        wanted = {EVERY_KIND}
    if not secret_metadata:
        wanted.discard(_SECRET)
    resources: dict[str, set[str]] = {}
    for key in wanted:
        group, _, kind = key.rpartition("/")
        for served in _named(group, kind, wanted):
            resources.setdefault(served[0], set()).add(served[1])
    rules = [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": list(_VERBS)}
        for group, plurals in sorted(resources.items())
    ]
    rules.append({"nonResourceURLs": ["/api", "/apis", "/version"], "verbs": ["get"]})
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": rules,
    }


def _named(group: str, kind: str, wanted: set[str]) -> Iterable[tuple[str, str]]:
    """(API group, plural) of a kind key."""
    if kind == "*":
        yield group, "*"
        return
    if group == "*":
        for key, (plural, _) in built_in_kinds().items():
            if key.rpartition("/")[2] == kind:
                yield key.rpartition("/")[0], plural
        return
    if f"{group}/*" not in wanted:
        key = f"{group}/{kind}" if group else kind
        yield group, built_in_plural(key) or guess_plural(kind)


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking a server for the first object of each kind."""

    allowed: tuple[str, ...]
    refused: dict[str, str]
    """Kind key to reason: forbidden, or in trouble."""
    not_served: tuple[str, ...]


def rights_of(access: Access, kinds: Iterable[str]) -> Rights:
    """Try to list one object of each kind: what a server answers says more than what its rules say it would.

    Raises:
        ApiError: the server doesn't answer at all.
    """
    wanted = tuple(kinds)
    connection = Connection(access)
    try:
        served = [kind for kind in served_by(connection).kinds if kind_listed(kind.key, wanted)]
        allowed, refused = [], {}
        for kind in served:
            try:
                connection.get(kind.path, {"limit": "1"})
            except ApiError as error:
                refused[kind.key] = "forbidden" if error.kind is GapKind.FORBIDDEN else error.reason
            else:
                allowed.append(kind.key)
    finally:
        connection.close()
    known = {kind.key for kind in served}
    missing = tuple(sorted(key for key in wanted if key not in known and "*" not in key))
    return Rights(allowed=tuple(allowed), refused=refused, not_served=missing)
