"""The shapes of a Sigstore bundle, read strictly: what is not understood is refused before any cryptography."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_BUNDLE_BYTES = 32 << 20
_PREFIX = "application/vnd.dev.sigstore.bundle"
_MEDIA_TYPES = {
    f"{_PREFIX}+json;version=0.1": "0.1",
    f"{_PREFIX}+json;version=0.2": "0.2",
    f"{_PREFIX}+json;version=0.3": "0.3",
    f"{_PREFIX}.v0.3+json": "0.3",
}


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Unknown fields are refused: another reader of the same file may give them a meaning."""


class Certificate(_Part, frozen=True, kw_only=True):
    """One certificate in DER."""

    raw_bytes: bytes


class Chain(_Part, frozen=True, kw_only=True):
    """Certificates, that of the signer first."""

    certificates: tuple[Certificate, ...] = ()


class KeyHint(_Part, frozen=True, kw_only=True):
    """A hint at a key; proves nothing."""

    hint: str = ""
    raw_bytes: bytes | None = None
    key_details: str | None = None


class LogId(_Part, frozen=True, kw_only=True):
    """Names a log by the digest of its key."""

    key_id: bytes


class KindVersion(_Part, frozen=True, kw_only=True):
    """Type of a log entry."""

    kind: str
    version: str


class Promise(_Part, frozen=True, kw_only=True):
    """The log's promise to include the entry, which also binds its time."""

    signed_entry_timestamp: bytes


class Checkpoint(_Part, frozen=True, kw_only=True):
    """A signed note about the state of a log."""

    envelope: str


class Proof(_Part, frozen=True, kw_only=True):
    """Hashes that lead from an entry to the root of the log."""

    log_index: int | str = 0
    root_hash: bytes
    tree_size: int | str
    hashes: tuple[bytes, ...] = ()
    checkpoint: Checkpoint | None = None


class LogEntry(_Part, frozen=True, kw_only=True):
    """An entry of a transparency log."""

    log_index: int | str = 0
    log_id: LogId
    kind_version: KindVersion
    integrated_time: int | str | None = None
    inclusion_promise: Promise | None = None
    inclusion_proof: Proof | None = None
    canonicalized_body: bytes


class Timestamp(_Part, frozen=True, kw_only=True):
    """An RFC 3161 answer."""

    signed_timestamp: bytes


class Timestamps(_Part, frozen=True, kw_only=True):
    """Timestamps by authorities other than the log."""

    rfc3161_timestamps: tuple[Timestamp, ...] | None = None


class Material(_Part, frozen=True, kw_only=True):
    """With what to verify."""

    certificate: Certificate | None = None
    x509_certificate_chain: Chain | None = None
    public_key: KeyHint | None = None
    tlog_entries: tuple[LogEntry, ...] | None = None
    timestamp_verification_data: Timestamps | None = None


class MessageDigest(_Part, frozen=True, kw_only=True):
    """What was signed."""

    algorithm: str
    digest: bytes


class MessageSignature(_Part, frozen=True, kw_only=True):
    """A signature over a file."""

    message_digest: MessageDigest | None = None
    signature: bytes


class EnvelopeSignature(_Part, frozen=True, kw_only=True):
    """One signature of an envelope."""

    sig: bytes
    keyid: str | None = None


class Envelope(_Part, frozen=True, kw_only=True):
    """A DSSE envelope."""

    payload: bytes
    payload_type: str
    signatures: tuple[EnvelopeSignature, ...]

    @property
    def signed_bytes(self) -> bytes:
        """What the signature is over: the DSSE pre-authentication encoding."""
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(self.payload), self.payload)


class Bundle(_Part, frozen=True, kw_only=True):
    """A Sigstore bundle as it is written."""

    media_type: str
    verification_material: Material
    message_signature: MessageSignature | None = None
    dsse_envelope: Envelope | None = None

    @property
    def version(self) -> str:
        """Version of the format, or ``unknown``."""
        return _MEDIA_TYPES.get(self.media_type, "unknown")

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """Entries of transparency logs."""
        return self.verification_material.tlog_entries or ()

    @property
    def timestamps(self) -> tuple[Timestamp, ...]:
        """Timestamps of authorities."""
        data = self.verification_material.timestamp_verification_data
        return (data.rfc3161_timestamps or ()) if data else ()

    @property
    def certificate(self) -> bytes | None:
        """The signer's certificate in DER."""
        material = self.verification_material
        if material.certificate is not None:
            return material.certificate.raw_bytes
        chain = material.x509_certificate_chain
        return chain.certificates[0].raw_bytes if chain and chain.certificates else None

    @property
    def other_certificates(self) -> tuple[bytes, ...]:
        """Certificates besides the signer's."""
        chain = self.verification_material.x509_certificate_chain
        return tuple(one.raw_bytes for one in chain.certificates[1:]) if chain else ()

    def form(self) -> dict[str, Any]:
        """The shape, for people and rules; claims that nobody has verified yet."""
        material = self.verification_material
        return {
            "version": self.version,
            "media_type": self.media_type[:200],
            "material": "certificate chain"
            if material.x509_certificate_chain
            else "certificate"
            if material.certificate
            else "public key"
            if material.public_key
            else "none",
            "content": "message" if self.message_signature else "dsse" if self.dsse_envelope else "none",
            "time": "log" if self.entries else "timestamp" if self.timestamps else "none",
        }


UNKNOWN_FORM: dict[str, Any] = {
    "version": "unknown",
    "media_type": "",
    "material": "none",
    "content": "none",
    "time": "none",
}


def parse_json(data: bytes) -> Any:
    """One JSON document, whole, without doubled keys.

    Raises:
        RefusedError: it is none.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("malformed") from None
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, 0))
    except (ValueError, RecursionError):
        raise RefusedError("malformed") from None
    if _skip(text, end) != len(text):
        raise RefusedError("trailing_data")
    return value


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RefusedError("duplicate_key")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_no_doubles)


def bundle_of(document: Any) -> Bundle:
    """A bundle with exactly one content and one material.

    Raises:
        RefusedError: its version, or what it holds, is not one that can be verified.
    """
    if not isinstance(document, Mapping):
        raise RefusedError("malformed")
    media_type = document.get("mediaType")
    if not isinstance(media_type, str):
        raise RefusedError("malformed")
    if media_type not in _MEDIA_TYPES:
        raise RefusedError("unsupported_version" if media_type.startswith(_PREFIX) else "malformed")
    try:
        bundle = msgspec.convert(document, Bundle)
    except (msgspec.ValidationError, RecursionError):
        raise RefusedError("malformed") from None
    material = bundle.verification_material
    materials = (material.certificate, material.x509_certificate_chain, material.public_key)
    if sum(one is not None for one in materials) > 1:
        raise RefusedError("two_materials")
    if bundle.message_signature is not None and bundle.dsse_envelope is not None:
        raise RefusedError("two_contents")
    if bundle.message_signature is None and bundle.dsse_envelope is None:
        raise RefusedError("malformed")
    if material.public_key is None and bundle.certificate is None:
        raise RefusedError("no_material")
    if bundle.dsse_envelope is not None and len(bundle.dsse_envelope.signatures) != 1:
        raise RefusedError("signature_count")
    return bundle


def is_envelope(document: object) -> bool:
    """Whether it is an envelope that no bundle is around."""
    return isinstance(document, Mapping) and "payloadType" in document and "signatures" in document


def envelope_of(document: object) -> Envelope:
    """An envelope with exactly one signature.

    Raises:
        RefusedError: it can't be read, or has none or several.
    """
    try:
        envelope = msgspec.convert(document, Envelope)
    except (msgspec.ValidationError, RecursionError):
        raise RefusedError("malformed") from None
    if len(envelope.signatures) != 1:
        raise RefusedError("signature_count")
    return envelope


def number(value: int | str | None) -> int:
    """A 64-bit number of protobuf's JSON, which may be written as text.

    Raises:
        RefusedError: it is none.
    """
    text = str(value)
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise RefusedError("malformed")
    return int(text)
