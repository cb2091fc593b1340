"""A server on loopback that answers as a test wants it to, with or without TLS."""

from __future__ import annotations

import contextlib
import datetime as dt
import http.server
import ipaddress
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Request(NamedTuple):
    """What was asked."""

    path: str
    """With its query."""
    headers: dict[str, str]


class Reply(NamedTuple):
    """What is told."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    pause: float = 0.0
    """Seconds between two bytes of the body."""
    endless: bool = False
    """The body is repeated until the client hangs up."""
    raw: bytes = b""
    """Said instead of an answer of HTTP."""
    half: bool = False
    """The connection ends in the middle of the body."""


NAME = "registry.test"
"""A name that certificates are good for and that nobody resolves."""
Answers = Callable[[Request], Reply]


class Hostile:
    """A running server."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.seen: list[Request] = []
        self.over = threading.Event()
        self.host = ""
        self.tunnel = ""
        """As a proxy: host and port that every CONNECT leads to; empty refuses them."""

    def paths(self) -> list[str]:
        """What was asked for."""
        return [request.path for request in self.seen]


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    hostile: Hostile

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are the point."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:  # the name that the base class calls
        hostile = self.server.hostile
        request = Request(self.path, {name.title(): value for name, value in self.headers.items()})
        hostile.seen.append(request)
        reply = hostile.answers(request)
        if reply.raw:
            self.close_connection = True
            self._slowly(reply.raw, reply.pause)
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.endless:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if reply.half:
            self.close_connection = True
            self.wfile.write(reply.body[: len(reply.body) // 2])
        elif reply.pause:
            self._slowly(reply.body, reply.pause)
        else:
            self.wfile.write(reply.body)
            while reply.endless and not hostile.over.is_set():
                self.wfile.write(reply.body)

    def do_CONNECT(self) -> None:
        hostile = self.server.hostile
        hostile.seen.append(Request(self.path, {name.title(): value for name, value in self.headers.items()}))
        self.close_connection = True
        if not hostile.tunnel:
            self.send_error(403)
            return
        name, _, port = hostile.tunnel.partition(":")
        with socket.create_connection((name, int(port)), timeout=10) as upstream:
            self.send_response(200)
            self.end_headers()
            ends = (self.connection, upstream)
            while not hostile.over.is_set():
                for end in select.select(ends, [], [], 0.1)[0]:
                    data = end.recv(65536)
                    if not data:
                        return
                    (upstream if end is self.connection else self.connection).sendall(data)

    def _slowly(self, data: bytes, pause: float) -> None:
        for byte in data:
            if pause and self.server.hostile.over.wait(pause):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


@contextlib.contextmanager
def hostile(answers: Answers, *, tls: Path | None = None) -> Iterator[Hostile]:
    """A server on a port of its own.

    Args:
        answers: what it says.
        tls: folder where the certificate of its authority goes, as ``ca.pem``; None speaks without TLS.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    server.hostile = Hostile(answers)
    server.hostile.host = f"127.0.0.1:{server.server_address[1]}"
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(_certificate(tls))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.hostile
    finally:
        server.hostile.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _certificate(folder: Path) -> Path:
    """An authority, and a certificate for this machine that it has signed."""
    now = dt.datetime.now(dt.UTC)
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])

    def signed(subject: x509.Name, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(extension, critical=False)
            .sign(authority, hashes.SHA256())
            .public_bytes(Encoding.PEM)
        )

    ca = signed(name, authority.public_key(), x509.BasicConstraints(ca=True, path_length=None))
    (folder / "ca.pem").write_bytes(ca)
    server = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    alternative = x509.SubjectAlternativeName([address, x509.DNSName(NAME)])
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / "server.pem"
    path.write_bytes(private + signed(server, key.public_key(), alternative))
    return path
