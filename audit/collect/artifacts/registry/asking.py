"""All images of a run: each is fetched once, some at a time, from the registries that may be asked."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
from collections.abc import Iterable, Iterator
from typing import Self

import msgspec

from audit.collect.artifacts.registry.client import RegistryClient
from audit.collect.artifacts.registry.fetching import Fetched, Trouble, fetch
from audit.collect.artifacts.registry.references import Reference
from audit.collect.artifacts.registry.settings import RegistrySettings
from audit.ports import StopSignal

_LOOK_EVERY = 0.2
"""Seconds between two looks at whether the run is to stop."""
_AHEAD = 32
"""Images asked for before the first of them is read."""
_MAX_HELD = 256 << 20


class RegistryImages:
    """Fetches images, and keeps what it fetched until it is closed: members of a fleet run the same ones.

    Args:
        settings: the registries that may be asked.
    """

    def __init__(self, settings: Iterable[RegistrySettings]) -> None:
        self._clients = {one.host: RegistryClient(one) for one in settings}
        self._pools: dict[str, concurrent.futures.ThreadPoolExecutor] = {}
        self._known: dict[tuple[str, str, str], concurrent.futures.Future[Fetched]] = {}
        self._held: dict[tuple[str, str, str], int] = {}
        self._asked: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is under way."""
        for client in self._clients.values():
            client.close()
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def may_ask(self, reference: Reference) -> bool:
        """Whether its registry is named in the configuration."""
        return reference.host in self._clients

    def fetched(self, references: Iterable[Reference], stop: StopSignal) -> Iterator[Fetched]:
        """What the registries have, in the order asked; ends early when the run is to stop."""
        waiting = iter(references)
        ahead = collections.deque((one, self._begin(one)) for one in itertools.islice(waiting, _AHEAD))
        while ahead:
            reference, future = ahead.popleft()
            while not future.done():
                if stop.is_set():
                    return
                concurrent.futures.wait([future], timeout=_LOOK_EVERY)
            if (following := next(waiting, None)) is not None:
                ahead.append((following, self._begin(following)))
            found = future.result()
            self._keep(reference, found)
            # Another name of the same image may have been asked for first.
            yield msgspec.structs.replace(found, reference=reference)

    def _keep(self, reference: Reference, found: Fetched) -> None:
        """Remember what was fetched, and forget what was fetched first where it is too much."""
        key = _key(reference)
        if key not in self._held and key in self._known:
            self._held[key] = found.size
        while sum(self._held.values()) > _MAX_HELD:
            oldest = next(iter(self._held))
            del self._held[oldest], self._known[oldest]

    def _begin(self, reference: Reference) -> concurrent.futures.Future[Fetched]:
        key = _key(reference)
        if key not in self._known:
            client = self._clients[reference.host]
            count = self._asked[reference.host] = self._asked.get(reference.host, 0) + 1
            if count > client.settings.max_images:
                self._known[key] = _not_asked(reference, client.settings.max_images)
            else:
                self._known[key] = self._pool(client).submit(fetch, reference, client)
        return self._known[key]

    def _pool(self, client: RegistryClient) -> concurrent.futures.ThreadPoolExecutor:
        host = client.settings.host
        if host not in self._pools:
            self._pools[host] = concurrent.futures.ThreadPoolExecutor(
                client.settings.connections, thread_name_prefix="registry"
            )
        return self._pools[host]


def _key(reference: Reference) -> tuple[str, str, str]:
    return reference.host, reference.repository, reference.asked


def _not_asked(reference: Reference, limit: int) -> concurrent.futures.Future[Fetched]:
    trouble = Trouble(
        code="registry_not_asked",
        reason=f"there are more images in it than the limit of {limit}",
        hint="raise registries.max_images",
    )
    future: concurrent.futures.Future[Fetched] = concurrent.futures.Future()
    future.set_result(Fetched(reference=reference, digest=reference.digest, troubles=(trouble,)))
    return future
