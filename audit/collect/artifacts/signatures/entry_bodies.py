"""What a log entry says was signed, and with what: it must be this very signature."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    load_der_public_key,
    load_pem_public_key,
)

from audit.collect.artifacts.signatures.bundle_shape import Envelope, LogEntry, parse_json
from audit.collect.artifacts.signatures.certificates import load
from audit.collect.artifacts.signatures.contents import ALGORITHMS, BytesContent, Content
from audit.collect.artifacts.signatures.public_keys import NamedKey, named
from audit.collect.artifacts.signatures.verdicts import RefusedError

_DIGEST_NAMES = {"SHA2_256": "sha256", "SHA2_384": "sha384", "SHA2_512": "sha512"}
_Reader = Callable[[Any, bytes, Content, Envelope | None], bytes]


def key_in_entry(entry: LogEntry, signature: bytes, content: Content, envelope: Envelope | None) -> NamedKey:
    """The key that a log entry names.

    Raises:
        RefusedError: the entry is about another signature, or of a kind that is not supported.
    """
    maker = _maker(entry, signature, content, envelope)
    try:
        key = load_pem_public_key(maker) if maker.startswith(b"-----") else load_der_public_key(maker)
    except (ValueError, UnsupportedAlgorithm):
        raise RefusedError("log_entry_differs") from None
    return named(key)


def check_certificate_in_entry(
    entry: LogEntry,
    signature: bytes,
    content: Content,
    envelope: Envelope | None,
    certificate: x509.Certificate,
) -> None:
    """The entry is about this signature and names this certificate.

    Raises:
        RefusedError: it is not, or is of a kind that is not supported.
    """
    maker = _maker(entry, signature, content, envelope)
    try:
        der = _der(maker)
    except ValueError:
        raise RefusedError("log_entry_differs") from None
    if load(der).public_bytes(Encoding.DER) != certificate.public_bytes(Encoding.DER):
        raise RefusedError("log_entry_differs")


def _der(maker: bytes) -> bytes:
    if not maker.startswith(b"-----"):
        return maker
    body = maker.replace(b"\r", b"").strip().split(b"\n")
    if body[0] != b"-----BEGIN CERTIFICATE-----" or body[-1] != b"-----END CERTIFICATE-----":
        raise RefusedError("log_entry_differs")
    return base64.b64decode(b"".join(body[1:-1]), validate=True)


def _maker(entry: LogEntry, signature: bytes, content: Content, envelope: Envelope | None) -> bytes:
    """The key or certificate in the entry, in PEM or DER."""
    kind = (entry.kind_version.kind, entry.kind_version.version)
    read = _READERS.get(kind)
    if read is None:
        raise RefusedError("unsupported_entry")
    try:
        body = parse_json(entry.canonicalized_body)
        _same(body["kind"] == kind[0] and body["apiVersion"] == kind[1])
        return read(body["spec"], signature, content, envelope)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise RefusedError("log_entry_differs") from None


def _hashedrekord_1(spec: Any, signature: bytes, content: Content, _: Envelope | None) -> bytes:
    claimed, made = spec["data"]["hash"], spec["signature"]
    _same(claimed["algorithm"] in ALGORITHMS)
    _same(claimed["value"] == content.digest(claimed["algorithm"]).hex())
    _same(_decoded(made["content"]) == signature)
    return _decoded(made["publicKey"]["content"])


def _hashedrekord_2(spec: Any, signature: bytes, content: Content, _: Envelope | None) -> bytes:
    record = spec["hashedRekordV002"]
    _same(_decoded(record["data"]["digest"]) == content.digest(_DIGEST_NAMES[record["data"]["algorithm"]]))
    _same(_decoded(record["signature"]["content"]) == signature)
    verifier = record["signature"]["verifier"]
    return _decoded((verifier.get("publicKey") or verifier["x509Certificate"])["rawBytes"])


def _dsse(spec: Any, signature: bytes, _: Content, envelope: Envelope | None) -> bytes:
    _same_payload(spec["payloadHash"], envelope)
    _same(len(spec["signatures"]) == 1)
    made = spec["signatures"][0]
    _same(_decoded(made["signature"]) == signature)
    return _decoded(made["verifier"])


def _intoto_1(spec: Any, _: bytes, __: Content, envelope: Envelope | None) -> bytes:
    """The oldest form binds the payload and the key, not the signature itself."""
    _same_payload(spec["content"]["payloadHash"], envelope)
    return _decoded(spec["publicKey"])


def _intoto_2(spec: Any, signature: bytes, _: Content, envelope: Envelope | None) -> bytes:
    _same_payload(spec["content"]["payloadHash"], envelope)
    signatures = spec["content"]["envelope"]["signatures"]
    _same(len(signatures) == 1)
    # Both are encoded twice: once as in the envelope, and once for the entry.
    _same(_decoded(_decoded(signatures[0]["sig"]).decode("ascii")) == signature)
    return _decoded(signatures[0]["publicKey"])


_READERS: dict[tuple[str, str], _Reader] = {
    ("hashedrekord", "0.0.1"): _hashedrekord_1,
    ("hashedrekord", "0.0.2"): _hashedrekord_2,
    ("dsse", "0.0.1"): _dsse,
    ("intoto", "0.0.1"): _intoto_1,
    ("intoto", "0.0.2"): _intoto_2,
}


def _same_payload(hashed: Any, envelope: Envelope | None) -> None:
    if envelope is None:
        raise RefusedError("log_entry_differs")
    digest = BytesContent(envelope.payload).digest("sha256").hex()
    _same(hashed["algorithm"] == "sha256" and hashed["value"] == digest)


def _same(condition: bool) -> None:  # noqa: FBT001  # reads like the assertion that it is
    if not condition:
        raise RefusedError("log_entry_differs")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
