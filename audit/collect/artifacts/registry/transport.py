"""One image's requests: bounded in size, and in time as a whole, whoever answers and however slowly.

Timeouts of sockets begin anew with every byte. So every connection is held by a second handle, and when the time is over all of them
are shut down, whatever they were waiting for: a handshake, a header, or the rest of a body.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Self
from urllib.parse import SplitResult, unquote

import msgspec
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

import audit
from audit.collect.artifacts.registry.failures import RegistryError
from audit.loopback import is_loopback

CONNECT_SECONDS = 10.0
READ_SECONDS = 20.0
"""Between two pieces of an answer."""
MAX_IMAGE_BYTES = 64 << 20
_PIECE = 64 << 10


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes
    whole: bool
    """Whether its end was stated. Without, an answer that was cut short looks like a short one."""


class Transport:
    """Requests for one image; used by one thread, and cut off by any. Proxies are those of the surroundings.

    Args:
        trust: whose certificates are trusted.
        seconds: for all its requests together.
    """

    def __init__(self, trust: ssl.SSLContext, seconds: float) -> None:
        self._trust = trust
        self._ends = time.monotonic() + seconds
        self._handles: list[socket.socket] = []
        self._managers: dict[str, urllib3.PoolManager] = {}
        self._over = threading.Event()
        self._bytes = 0
        self._timer = threading.Timer(max(seconds, 0), self.cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._timer.cancel()
        for manager in self._managers.values():
            manager.clear()
        for handle in self._handles:
            handle.close()

    @property
    def remaining(self) -> float:
        """Seconds that are left."""
        return 0.0 if self._over.is_set() else max(0.0, self._ends - time.monotonic())

    def cut(self) -> None:
        """End everything now: who waits for an answer gets `RegistryError`."""
        self._over.set()
        for handle in list(self._handles):
            with contextlib.suppress(OSError):  # closed already
                handle.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> bool:
        """Wait, unless there is less time left than that: then at once, and False."""
        if seconds >= self.remaining:
            return False
        return not self._over.wait(seconds)

    def get(self, address: SplitResult, headers: Mapping[str, str], *, limit: int) -> Answer:
        """One GET. Redirects are not followed, nothing is unpacked, and no cookie is kept.

        Args:
            address: http or https.
            headers: sent as they are.
            limit: bytes of the body.

        Raises:
            RegistryError: no answer within the bounds.
        """
        if self.remaining <= 0:
            raise self._slow()
        sent = {"User-Agent": f"fleetaudit/{audit.__version__}", "Accept-Encoding": "identity", **headers}
        try:
            response = self._manager(address).urlopen(
                "GET", address.geturl(), headers=sent, redirect=False, preload_content=False
            )
            try:
                body = self._body(response, limit)
            finally:
                response.close()
        except (HTTPError, OSError, http.client.HTTPException, ValueError) as error:
            raise self._failed(error) from None
        if self._over.is_set():  # cut off within the headers, which looks like an answer without a body
            raise self._slow()
        whole = "Content-Length" in response.headers or response.headers.get("Transfer-Encoding") is not None
        return Answer(status=response.status, headers=response.headers, body=body, whole=whole)

    def _body(self, response: urllib3.BaseHTTPResponse, limit: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := response.read(_PIECE, decode_content=False):
            size += len(piece)
            self._bytes += len(piece)
            if size > limit:
                raise RegistryError("registry_too_large", f"an answer has more than {limit} bytes")
            if self._bytes > MAX_IMAGE_BYTES:
                raise RegistryError(
                    "registry_too_large",
                    f"the answers about one image have more than {MAX_IMAGE_BYTES} bytes",
                )
            pieces.append(piece)
        return b"".join(pieces)

    # ---- connections

    def _manager(self, address: SplitResult) -> urllib3.PoolManager:
        proxy = _proxy_of(address)
        if proxy not in self._managers:
            timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
            if proxy:
                plain, headers = _without_user(proxy)
                manager: urllib3.PoolManager = urllib3.ProxyManager(
                    plain,
                    proxy_headers=headers,
                    proxy_ssl_context=self._trust,
                    ssl_context=self._trust,
                    timeout=timeout,
                    retries=False,
                )
            else:
                manager = urllib3.PoolManager(ssl_context=self._trust, timeout=timeout, retries=False)
            manager.pool_classes_by_scheme = self._pools()
            self._managers[proxy] = manager
        return self._managers[proxy]

    def _pools(self) -> dict[str, type[urllib3.HTTPConnectionPool]]:
        hold = self._hold

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return hold(super()._new_conn())

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return hold(super()._new_conn())

        class PlainPool(urllib3.HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(urllib3.HTTPSConnectionPool):
            ConnectionCls = Secure

        return {"http": PlainPool, "https": SecurePool}

    def _hold(self, connection: socket.socket) -> socket.socket:
        self._handles.append(connection.dup())
        if self._over.is_set():  # the time was over while it was being made
            self.cut()
        return connection

    # ---- failures

    def _slow(self) -> RegistryError:
        return RegistryError("registry_slow", "it did not answer in time")

    def _failed(self, error: Exception) -> RegistryError:
        if self.remaining <= 0 or isinstance(error, ReadTimeoutError):
            return self._slow()
        if isinstance(error, ProxyError):
            return RegistryError("registry_unreachable", "the proxy on the way to it does not answer")
        if isinstance(error, ssl.SSLError | SSLError):
            return _no_trust(error)
        cause = error.args[1] if isinstance(error, ProtocolError) and len(error.args) > 1 else error
        disconnected = isinstance(cause, http.client.RemoteDisconnected)
        if isinstance(cause, http.client.BadStatusLine) and not disconnected:
            return RegistryError("not_a_registry", "what answers does not speak HTTP")
        if isinstance(error, NameResolutionError):
            return RegistryError("registry_unreachable", "nobody knows its name")
        if isinstance(error, ConnectTimeoutError):
            return RegistryError(
                "registry_unreachable", f"no connection within {CONNECT_SECONDS:.0f} seconds"
            )
        if isinstance(error, ProtocolError):
            return RegistryError("registry_unreachable", "the connection broke off")
        return RegistryError("registry_unreachable", "no connection can be made")


def _no_trust(error: Exception) -> RegistryError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error) or "doesn't match" in str(error):
        return RegistryError(
            "registry_untrusted",
            "its certificate is not trusted",
            hint="name the authority behind it under registries.ca",
        )
    return RegistryError("registry_untrusted", "no TLS connection can be made with it")


def trust_of(ca: Path | None) -> ssl.SSLContext:
    """Certificates of the system, and those of a file beside them.

    Raises:
        OSError: the file can't be read, or holds none.
    """
    context = ssl.create_default_context()
    if ca is not None:
        context.load_verify_locations(cafile=str(ca))
    return context


def _proxy_of(address: SplitResult) -> str:
    host = address.netloc.rpartition("@")[2]
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(address.scheme, "")


def _without_user(proxy: str) -> tuple[str, Mapping[str, str]]:
    parsed = urllib3.util.parse_url(proxy if "://" in proxy else f"http://{proxy}")
    headers = urllib3.make_headers(proxy_basic_auth=unquote(parsed.auth)) if parsed.auth else {}
    return parsed._replace(auth=None).url, headers
