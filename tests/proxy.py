"""A proxy before a real server that breaks things on purpose."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import urlsplit


class Request(NamedTuple):
    """What the client asks."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class Reply(NamedTuple):
    """What it is told instead of the server's answer."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Drop(NamedTuple):
    """The connection ends without an answer."""


class Half(NamedTuple):
    """The connection ends in the middle of the server's answer."""


class Wait(NamedTuple):
    """Nothing is said for a while, then the connection ends."""

    seconds: float


class Drip(NamedTuple):
    """The server's answer comes byte by byte, slowly."""

    pause: float


Fault = Reply | Drop | Half | Wait | Drip
Plan = Callable[[Request], Fault | None]
Edit = Callable[[Request, bytes], bytes]


class Proxy:
    """Forwards to `upstream`; `plan` says what to break, `edit` changes answers."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream)
        self.plan: Plan = lambda request: None
        self.edit: Edit = lambda request, body: body
        self.seen: list[Request] = []
        self.over = threading.Event()
        self.url = ""

    def asked(self) -> list[Request]:
        """Requests that ask rules about objects."""
        return [request for request in self.seen if request.path.partition("?")[0].endswith("/reply")]


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    proxy: Proxy

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are the point."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _handle(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, body, dict(self.headers))
        proxy.seen.append(request)
        fault = proxy.plan(request)
        if isinstance(fault, Reply):
            self._send(fault.status, fault.body, fault.headers)
        elif isinstance(fault, Drop | Wait):
            proxy.over.wait(fault.seconds if isinstance(fault, Wait) else 0)
            self.close_connection = True
        else:
            status, answer = self._forward(request)
            answer = proxy.edit(request, answer)
            if fault is None:
                self._send(status, answer)
            else:
                self._head(status, len(answer), ())
                self._begin(answer, fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815

    def _begin(self, answer: bytes, fault: Half | Drip) -> None:
        """Send a part of the answer, and hang up."""
        self.close_connection = True
        if isinstance(fault, Half):
            self.wfile.write(answer[: len(answer) // 2])
            return
        for byte in answer:
            if self.server.proxy.over.wait(fault.pause):
                break
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def _forward(self, request: Request) -> tuple[int, bytes]:
        place = self.server.proxy.upstream
        upstream: http.client.HTTPConnection
        if place.scheme == "https":  # the certificate is not what is tested
            trusting = ssl._create_unverified_context()
            upstream = http.client.HTTPSConnection(
                place.hostname or "", place.port, timeout=60, context=trusting
            )
        else:
            upstream = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        with contextlib.closing(upstream):
            upstream.request(request.method, request.path, request.body, request.headers)
            answer = upstream.getresponse()
            return answer.status, answer.read()

    def _send(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


@contextlib.contextmanager
def proxy_before(upstream: str) -> Iterator[Proxy]:
    """A proxy on a loopback port of its own."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.proxy = Proxy(upstream)
    server.proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.proxy
    finally:
        server.proxy.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
