"""A small Sigstore of our own: an authority, a log of certificates and a transparency log, with real keys and a real tree.

What it signs is accepted by the sigstore library; every part can be made wrong on its own.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

NOW = dt.datetime(2026, 6, 1, 12, 0, 0, tzinfo=dt.UTC)
SUBJECT = "https://github.com/acme/app/.github/workflows/release.yml@refs/tags/v1.2.3"
ISSUER = "https://token.actions.githubusercontent.com"
V03 = "application/vnd.dev.sigstore.bundle.v0.3+json"
V03_OLD = "application/vnd.dev.sigstore.bundle+json;version=0.3"
V02 = "application/vnd.dev.sigstore.bundle+json;version=0.2"
V01 = "application/vnd.dev.sigstore.bundle+json;version=0.1"
IN_TOTO = "application/vnd.in-toto+json"
_ARC = "1.3.6.1.4.1.57264.1."


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def sign(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def spki(key: Any) -> bytes:
    public = key.public_key() if hasattr(key, "public_key") else key
    return public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def iso(moment: dt.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def pae(kind: str, payload: bytes) -> bytes:
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)


def der_text(text: str) -> bytes:
    return _der(0x0C, text.encode())


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content


class MerkleLog:
    """An RFC 6962 tree over all entries."""

    def __init__(self) -> None:
        self.leaves: list[bytes] = []

    def root(self, leaves: list[bytes] | None = None) -> bytes:
        leaves = self.leaves if leaves is None else leaves
        if len(leaves) == 1:
            return sha256(b"\0" + leaves[0])
        half = _half(len(leaves))
        return sha256(b"\1" + self.root(leaves[:half]) + self.root(leaves[half:]))

    def path(self, index: int, leaves: list[bytes] | None = None) -> list[bytes]:
        leaves = self.leaves if leaves is None else leaves
        if len(leaves) == 1:
            return []
        half = _half(len(leaves))
        if index < half:
            return [*self.path(index, leaves[:half]), self.root(leaves[half:])]
        return [*self.path(index - half, leaves[half:]), self.root(leaves[:half])]


def _half(size: int) -> int:
    half = 1
    while half * 2 < size:
        half *= 2
    return half


class Chain:
    """One instance of Sigstore, all of it at hand."""

    def __init__(self, now: dt.datetime = NOW, *, name: str = "fulcio-test") -> None:
        self.now = now
        self.ca_key, self.ct_key, self.log_key = new_key(), new_key(), new_key()
        self.log = MerkleLog()
        self.authority = self._authority(name)

    def _authority(self, name: str) -> x509.Certificate:
        subject = x509.Name(
            [
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "test"),
                x509.NameAttribute(NameOID.COMMON_NAME, name),
            ]
        )
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(self.ca_key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.now - dt.timedelta(days=400))
            .not_valid_after(self.now + dt.timedelta(days=3650))
            .add_extension(x509.BasicConstraints(True, 1), True)
            .add_extension(usage, True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.ca_key.public_key()), False)
            .sign(self.ca_key, hashes.SHA256())
        )

    # ---- the trusted root

    def trusted_root(self) -> dict[str, Any]:
        window = {"start": iso(self.now - dt.timedelta(days=300))}

        def log(key: ec.EllipticCurvePrivateKey, url: str) -> dict[str, Any]:
            return {
                "baseUrl": url,
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": b64(spki(key)),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": dict(window),
                },
                "logId": {"keyId": b64(sha256(spki(key)))},
            }

        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [log(self.log_key, "https://rekor.test")],
            "certificateAuthorities": [
                {
                    "subject": {"organization": "test", "commonName": "fulcio-test"},
                    "uri": "https://fulcio.test",
                    "certChain": {
                        "certificates": [{"rawBytes": b64(self.authority.public_bytes(Encoding.DER))}]
                    },
                    "validFor": dict(window),
                }
            ],
            "ctlogs": [log(self.ct_key, "https://ct.test")],
            "timestampAuthorities": [],
        }

    # ---- certificates

    def certificate(
        self,
        key: Any,
        *,
        subject: str = SUBJECT,
        issuer: str = ISSUER,
        at: dt.datetime | None = None,
        life: int = 600,
        claims: Mapping[int, str] | None = None,
        old_issuer: str | None = None,
        purpose: ObjectIdentifier = ExtendedKeyUsageOID.CODE_SIGNING,
        signing_usage: bool = True,
        may_issue: bool = False,
        ca_key: ec.EllipticCurvePrivateKey | None = None,
        ct_key: ec.EllipticCurvePrivateKey | None = None,
        published: bool = True,
        names: list[x509.GeneralName] | None = None,
    ) -> x509.Certificate:
        at = at or self.now
        name: x509.GeneralName = (
            x509.RFC822Name(subject)
            if "@" in subject and "://" not in subject
            else x509.UniformResourceIdentifier(subject)
        )
        usage = x509.KeyUsage(
            signing_usage, not signing_usage, False, False, False, False, False, False, False
        )
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.authority.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(at)
            .not_valid_after(at + dt.timedelta(seconds=life))
            .add_extension(usage, True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.ca_key.public_key()), False
            )
            .add_extension(x509.SubjectAlternativeName([name] if names is None else names), True)
        )
        if may_issue:
            builder = builder.add_extension(x509.BasicConstraints(True, None), True)
        texts = {1: (issuer if old_issuer is None else old_issuer).encode(), 8: der_text(issuer)}
        texts |= {
            number: text.encode() if number < 8 else der_text(text) for number, text in (claims or {}).items()
        }
        for number, value in texts.items():
            extension = x509.UnrecognizedExtension(ObjectIdentifier(f"{_ARC}{number}"), value)
            builder = builder.add_extension(extension, False)
        signer = ca_key or self.ca_key
        if published:
            body = builder.sign(signer, hashes.SHA256()).tbs_certificate_bytes
            receipt = self._receipt(body, at, ct_key or self.ct_key)
            builder = builder.add_extension(
                x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), receipt), False
            )
        return builder.sign(signer, hashes.SHA256())

    def _receipt(self, body: bytes, at: dt.datetime, key: ec.EllipticCurvePrivateKey) -> bytes:
        """The certificate log's signed timestamp, RFC 6962 section 3.2 and 3.3."""
        moment = int(at.timestamp() * 1000)
        entry = sha256(spki(self.ca_key)) + len(body).to_bytes(3, "big") + body
        signature = sign(key, struct.pack(">BBQH", 0, 0, moment, 1) + entry + b"\0\0")
        one = (
            b"\0"
            + sha256(spki(self.ct_key))
            + struct.pack(">QH", moment, 0)
            + b"\x04\x03"
            + struct.pack(">H", len(signature))
            + signature
        )
        return _der(0x04, struct.pack(">HH", len(one) + 2, len(one)) + one)

    # ---- the transparency log

    def entry(
        self, body: Mapping[str, Any], at: dt.datetime, *, log_key: ec.EllipticCurvePrivateKey | None = None
    ) -> dict[str, Any]:
        key = log_key or self.log_key
        raw = canonical(body)
        self.log.leaves += [b"filler %d" % len(self.log.leaves) for _ in range(3)]
        self.log.leaves.append(raw)
        index, size, root = len(self.log.leaves) - 1, len(self.log.leaves), self.log.root()
        log_id = sha256(spki(self.log_key))
        moment = int(at.timestamp())
        promise = {
            "body": b64(raw),
            "integratedTime": moment,
            "logID": log_id.hex(),
            "logIndex": index,
        }
        return {
            "logIndex": str(index),
            "logId": {"keyId": b64(log_id)},
            "kindVersion": {"kind": body["kind"], "version": body["apiVersion"]},
            "integratedTime": str(moment),
            "inclusionPromise": {"signedEntryTimestamp": b64(sign(key, canonical(promise)))},
            "inclusionProof": {
                "logIndex": str(index),
                "rootHash": b64(root),
                "treeSize": str(size),
                "hashes": [b64(one) for one in self.log.path(index)],
                "checkpoint": {"envelope": self.checkpoint(size, root, key=key)},
            },
            "canonicalizedBody": b64(raw),
        }

    def checkpoint(self, size: int, root: bytes, *, key: ec.EllipticCurvePrivateKey | None = None) -> str:
        text = f"rekor.test - 1\n{size}\n{b64(root)}\n"
        hint = sha256(spki(self.log_key))[:4]
        return f"{text}\n\u2014 rekor.test {b64(hint + sign(key or self.log_key, text.encode()))}\n"

    # ---- whole bundles

    def bundle(
        self,
        data: bytes,
        *,
        statement: bool = False,
        payload_type: str = IN_TOTO,
        at: dt.datetime | None = None,
        log_delay: int = 5,
        media_type: str = V03,
        logged: bytes | None = None,
        key: Any = None,
        **certificate: Any,
    ) -> dict[str, Any]:
        """Sign a file, or a statement in an envelope; `logged` puts another content into the log than is signed."""
        at = at or self.now
        key = key or new_key()
        issued = self.certificate(key, at=at, **certificate)
        pem = b64(issued.public_bytes(Encoding.PEM))
        content: dict[str, Any]
        if statement:
            signature = sign(key, pae(payload_type, data))
            envelope = {
                "payload": b64(data),
                "payloadType": payload_type,
                "signatures": [{"sig": b64(signature)}],
            }
            content = {"dsseEnvelope": envelope}
            body = dsse_body(envelope, logged or data, signature, pem)
        else:
            signature = sign(key, data)
            content = {
                "messageSignature": {
                    "messageDigest": {"algorithm": "SHA2_256", "digest": b64(sha256(data))},
                    "signature": b64(signature),
                }
            }
            body = hashedrekord_body(logged or data, signature, pem)
        entry = self.entry(body, at + dt.timedelta(seconds=log_delay))
        raw = {"rawBytes": b64(issued.public_bytes(Encoding.DER))}
        material: dict[str, Any] = (
            {"certificate": raw}
            if media_type in (V03, V03_OLD)
            else {"x509CertificateChain": {"certificates": [raw]}}
        )
        return {
            "mediaType": media_type,
            "verificationMaterial": {**material, "tlogEntries": [entry]},
            **content,
        }


def hashedrekord_body(data: bytes, signature: bytes, pem: str) -> dict[str, Any]:
    return {
        "apiVersion": "0.0.1",
        "kind": "hashedrekord",
        "spec": {
            "data": {"hash": {"algorithm": "sha256", "value": sha256(data).hex()}},
            "signature": {"content": b64(signature), "publicKey": {"content": pem}},
        },
    }


def dsse_body(envelope: Mapping[str, Any], payload: bytes, signature: bytes, pem: str) -> dict[str, Any]:
    return {
        "apiVersion": "0.0.1",
        "kind": "dsse",
        "spec": {
            "envelopeHash": {"algorithm": "sha256", "value": sha256(canonical(envelope)).hex()},
            "payloadHash": {"algorithm": "sha256", "value": sha256(payload).hex()},
            "signatures": [{"signature": b64(signature), "verifier": pem}],
        },
    }
