"""Checks an entry of a transparency log: is it in the log, who says so, and since when."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import json

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

from audit.collect.artifacts.signatures.bundle_shape import LogEntry, Proof, number
from audit.collect.artifacts.signatures.trust_root import Log, Root
from audit.collect.artifacts.signatures.verdicts import RefusedError

_MAX_HASHES = 64
_MAX_NOTE = 64 << 10
_MAX_NOTE_SIGNATURES = 32
_CURVE_HASHES: dict[str, hashes.HashAlgorithm] = {
    "secp256r1": hashes.SHA256(),
    "secp384r1": hashes.SHA384(),
    "secp521r1": hashes.SHA512(),
}


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says of an entry."""

    log_id: str
    index: int
    integrated: dt.datetime | None
    """None where no promise binds the time."""
    key: Log

    def facts(self) -> dict[str, object]:
        """As rules see it."""
        return {
            "id": self.log_id,
            "index": self.index,
            "integrated_time": self.integrated.isoformat() if self.integrated else None,
        }


def check_entry(entry: LogEntry, root: Root, *, now: dt.datetime, proof_needed: bool = True) -> Logged:
    """The entry is in a trusted log.

    Raises:
        RefusedError: it is not, or nothing proves it.
    """
    log = next((log for log in root.tlogs if log.log_id.key_id == entry.log_id.key_id), None)
    if log is None:
        raise RefusedError("unknown_log")
    index = number(entry.log_index)
    integrated = _promised_time(entry, log, index=index)
    if integrated is not None:
        if integrated > now + dt.timedelta(minutes=5):
            raise RefusedError("from_the_future")
        if not log.public_key.valid_for.holds(integrated):
            raise RefusedError("log_key_window")
    proof = entry.inclusion_proof
    if proof is None:
        if proof_needed or integrated is None:
            raise RefusedError("missing_inclusion_proof")
    else:
        _check_inclusion(entry, proof)
        if proof.checkpoint is not None:
            _check_checkpoint(proof, proof.checkpoint.envelope, log)
        elif proof_needed or integrated is None:
            raise RefusedError("missing_checkpoint")
    return Logged(log_id=entry.log_id.key_id.hex(), index=index, integrated=integrated, key=log)


def _promised_time(entry: LogEntry, log: Log, *, index: int) -> dt.datetime | None:
    if entry.inclusion_promise is None:
        return None
    if entry.integrated_time is None:
        raise RefusedError("malformed")
    seconds = number(entry.integrated_time)
    promise = {
        "body": base64.b64encode(entry.canonicalized_body).decode(),
        "integratedTime": seconds,
        "logID": entry.log_id.key_id.hex(),
        "logIndex": index,
    }
    # RFC 8785 of plain ASCII texts and integers is JSON with sorted keys and no spaces.
    data = json.dumps(promise, sort_keys=True, separators=(",", ":")).encode()
    if not verified_by(log, entry.inclusion_promise.signed_entry_timestamp, data):
        raise RefusedError("bad_promise")
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (OverflowError, ValueError, OSError):
        raise RefusedError("malformed") from None


def _check_inclusion(entry: LogEntry, proof: Proof) -> None:
    """RFC 9162, 2.1.3.2."""
    index, size = number(proof.log_index), number(proof.tree_size)
    if index >= size or len(proof.hashes) > _MAX_HASHES or any(len(one) != 32 for one in proof.hashes):
        raise RefusedError("bad_inclusion_proof")
    node, last = index, size - 1
    reached = hashlib.sha256(b"\0" + entry.canonicalized_body).digest()
    for sibling in proof.hashes:
        if last == 0:
            raise RefusedError("bad_inclusion_proof")
        if node & 1 or node == last:
            reached = hashlib.sha256(b"\1" + sibling + reached).digest()
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            reached = hashlib.sha256(b"\1" + reached + sibling).digest()
        node, last = node >> 1, last >> 1
    if last != 0 or reached != proof.root_hash:
        raise RefusedError("bad_inclusion_proof")


def _check_checkpoint(proof: Proof, note: str, log: Log) -> None:
    """The note is signed by the log, and speaks of the tree that the proof leads to."""
    if len(note) > _MAX_NOTE:
        raise RefusedError("malformed")
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if not blank or len(lines) < 3 or not lines[0]:
        raise RefusedError("bad_checkpoint")
    signed = (text + "\n").encode()
    hint = log.log_id.key_id[:4]
    for line in signatures.split("\n")[:_MAX_NOTE_SIGNATURES]:
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != "\u2014":
            continue
        raw = _base64(parts[2])
        if raw[:4] == hint and verified_by(log, raw[4:], signed):
            break
    else:
        raise RefusedError("bad_checkpoint")
    if lines[1] != str(number(proof.tree_size)) or _base64(lines[2]) != proof.root_hash:
        raise RefusedError("checkpoint_differs")


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def verified_by(log: Log, signature: bytes, data: bytes) -> bool:
    """Whether the log's key made the signature.

    Raises:
        RefusedError: the root holds a key that can't be used.
    """
    try:
        key = load_der_public_key(log.public_key.raw_bytes)
    except ValueError:
        raise RefusedError("root_unreadable") from None
    try:
        if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVE_HASHES:
            key.verify(signature, data, ec.ECDSA(_CURVE_HASHES[key.curve.name]))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, data)
        else:
            raise RefusedError("root_unreadable")
    except InvalidSignature:
        return False
    return True
