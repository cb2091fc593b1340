"""The key that a log entry names, for signatures made with keys."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key

from audit.collect.artifacts.signatures.bundle_shape import Envelope, LogEntry, parse_json
from audit.collect.artifacts.signatures.contents import ALGORITHMS, BytesContent, Content
from audit.collect.artifacts.signatures.public_keys import NamedKey, named
from audit.collect.artifacts.signatures.verdicts import RefusedError

_DIGEST_NAMES = {"SHA2_256": "sha256", "SHA2_384": "sha384", "SHA2_512": "sha512"}
_Reader = Callable[[Any, bytes, Content, Envelope | None], Any]


def key_in_entry(entry: LogEntry, signature: bytes, content: Content, envelope: Envelope | None) -> NamedKey:
    """The key that a log entry names; the entry must be about this very signature.

    Raises:
        RefusedError: it is about another one, or of a kind that is not supported.
    """
    kind = (entry.kind_version.kind, entry.kind_version.version)
    read = _READERS.get(kind)
    if read is None:
        raise RefusedError("unsupported_entry")
    try:
        body = parse_json(entry.canonicalized_body)
        if (body["kind"], body["apiVersion"]) != kind:
            raise RefusedError("log_entry_differs")
        return named(read(body["spec"], signature, content, envelope))
    except (KeyError, TypeError, ValueError, AttributeError, UnsupportedAlgorithm):
        raise RefusedError("log_entry_differs") from None


def _hashedrekord_1(spec: Any, signature: bytes, content: Content, _: Envelope | None) -> Any:
    claimed, made = spec["data"]["hash"], spec["signature"]
    _same(claimed["algorithm"] in ALGORITHMS)
    _same(claimed["value"] == content.digest(claimed["algorithm"]).hex())
    _same(_decoded(made["content"]) == signature)
    return load_pem_public_key(_decoded(made["publicKey"]["content"]))


def _hashedrekord_2(spec: Any, signature: bytes, content: Content, _: Envelope | None) -> Any:
    record = spec["hashedRekordV002"]
    _same(_decoded(record["data"]["digest"]) == content.digest(_DIGEST_NAMES[record["data"]["algorithm"]]))
    _same(_decoded(record["signature"]["content"]) == signature)
    return load_der_public_key(_decoded(record["signature"]["verifier"]["publicKey"]["rawBytes"]))


def _dsse(spec: Any, signature: bytes, _: Content, envelope: Envelope | None) -> Any:
    _same(envelope is not None and len(spec["signatures"]) == 1)
    made, hashed = spec["signatures"][0], spec["payloadHash"]
    payload = BytesContent(envelope.payload if envelope is not None else b"")
    _same(hashed["algorithm"] == "sha256" and hashed["value"] == payload.digest("sha256").hex())
    _same(_decoded(made["signature"]) == signature)
    return load_pem_public_key(_decoded(made["verifier"]))


_READERS: dict[tuple[str, str], _Reader] = {
    ("hashedrekord", "0.0.1"): _hashedrekord_1,
    ("hashedrekord", "0.0.2"): _hashedrekord_2,
    ("dsse", "0.0.1"): _dsse,
}


def _same(condition: bool) -> None:  # noqa: FBT001  # reads like the assertion that it is
    if not condition:
        raise RefusedError("log_entry_differs")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
