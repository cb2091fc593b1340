"""One kind, page by page: bounded waiting, and a list that expired is begun again without telling an object twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from audit.collect.cluster.connection import Connection
from audit.collect.cluster.failures import ApiError
from audit.collect.cluster.kinds import ServedKind
from audit.model.gap import GapKind

PAGE = 500
_TRIES = 5
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 30.0
_RESTARTS = 3
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a cluster may take, and how waiting is done."""

    deadline: float
    """`clock` value after which no request is begun."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - self.clock()


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some objects of one kind."""

    kind: ServedKind
    number: int
    objects: list[bytes]
    """Each as JSON with its apiVersion and kind."""
    restarted: bool = False
    """The list expired and was begun again: its objects are not of one moment."""


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[dict[str, Any]] | None = None


def pages(
    connection: Connection, kind: ServedKind, patience: Patience, *, metadata_only: bool = False
) -> Iterator[Page]:
    """All objects of a kind.

    Args:
        connection: the server.
        kind: what to list.
        patience: how long it may take.
        metadata_only: the server itself leaves out everything but metadata (for Secrets).

    Raises:
        ApiError: the list can't be had, or not to its end; pages before that were given.
    """
    decoder = msgspec.json.Decoder(_List)
    told: set[str] = set()
    position, number, restarts = "", 0, 0
    while True:
        parameters = {"limit": str(PAGE)} | ({"continue": position} if position else {})
        accept = _METADATA_ONLY if metadata_only else "application/json"
        try:
            body = _patiently(connection, kind.path, parameters, accept, patience)
        except ApiError as error:
            if not error.is_expired or not position or restarts >= _RESTARTS:
                raise
            restarts += 1
            position = ""
            continue
        try:
            found = decoder.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ApiError(GapKind.UNREADABLE, f"the list of {kind.plural} can't be read") from error
        number += 1
        yield Page(
            kind=kind,
            number=number,
            objects=[_whole(item, kind) for item in found.items or [] if _is_new(item, told)],
            restarted=restarts > 0,
        )
        position = found.metadata.continue_
        if not position:
            return


def _is_new(item: dict[str, Any], told: set[str]) -> bool:
    uid = str((item.get("metadata") or {}).get("uid", ""))
    if not uid:
        return True
    if uid in told:
        return False
    told.add(uid)
    return True


def _whole(item: dict[str, Any], kind: ServedKind) -> bytes:
    """Items of a list carry no kind of their own, and who wrote which field when is no part of what is judged."""
    metadata = item.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    item["apiVersion"] = f"{kind.group}/{kind.version}" if kind.group else kind.version
    item["kind"] = kind.kind
    return msgspec.json.encode(item)


def _patiently(
    connection: Connection, path: str, parameters: dict[str, str], accept: str, patience: Patience
) -> bytes:
    wait = _FIRST_WAIT
    for tries_left in range(_TRIES - 1, -1, -1):
        if patience.left() <= 0:
            raise ApiError(GapKind.INTERRUPTED, "the time for this cluster is over (limits.cluster_seconds)")
        try:
            return connection.get(path, parameters, accept=accept)
        except ApiError as error:
            pause = min(error.retry_after if error.retry_after is not None else wait, _LONGEST_WAIT)
            if not error.worth_another_try or not tries_left or pause > patience.left():
                raise
            patience.sleep(pause)
            wait *= 2
    raise AssertionError
