"""What a signer's certificate says: who, vouched for by whom, and from which build."""

from __future__ import annotations

import warnings
from typing import Any

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import ExtendedKeyUsageOID

from audit.collect.artifacts.signatures.verdicts import RefusedError

_ARC = "1.3.6.1.4.1.57264.1."
_OTHER_NAME = _ARC + "7"
_MAX_CLAIM = 2000
# Fulcio's first extensions hold the bare text, the later ones a DER string.
_BARE = {
    2: "workflow_trigger",
    3: "workflow_sha",
    4: "workflow_name",
    5: "workflow_repository",
    6: "workflow_ref",
}
_DER = {
    9: "build_signer_uri",
    10: "build_signer_digest",
    11: "runner_environment",
    12: "source_repository_uri",
    13: "source_repository_digest",
    14: "source_repository_ref",
    15: "source_repository_identifier",
    16: "source_repository_owner_uri",
    17: "source_repository_owner_identifier",
    18: "build_config_uri",
    19: "build_config_digest",
    20: "build_trigger",
    21: "run_invocation_uri",
    22: "source_repository_visibility",
}


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who a certificate was issued to."""

    subject: str
    issuer: str
    claims: dict[str, str]


def load(der: bytes) -> x509.Certificate:
    """A certificate.

    Raises:
        RefusedError: it is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", CryptographyDeprecationWarning
            )  # about the audited file, not about us
            return x509.load_der_x509_certificate(der)
    except ValueError:
        raise RefusedError("bad_certificate") from None


def public_key_of(certificate: x509.Certificate) -> object:
    """The key in a certificate.

    Raises:
        RefusedError: it can't be read.
    """
    try:
        return certificate.public_key()
    except ValueError:
        raise RefusedError("bad_certificate") from None
    except UnsupportedAlgorithm:
        raise RefusedError("unsupported_key") from None


def check_profile(certificate: x509.Certificate) -> None:
    """Made for signing code, by somebody who may not issue certificates, and published.

    Raises:
        RefusedError: it is not.
    """
    extensions = _extensions(certificate)
    constraints = extensions.get(x509.BasicConstraints.oid.dotted_string)
    if isinstance(constraints, x509.BasicConstraints) and constraints.ca:
        raise RefusedError("not_a_leaf")
    usage = extensions.get(x509.KeyUsage.oid.dotted_string)
    if not isinstance(usage, x509.KeyUsage) or not usage.digital_signature:
        raise RefusedError("wrong_key_usage")
    if usage.key_cert_sign:
        raise RefusedError("not_a_leaf")
    purposes = extensions.get(x509.ExtendedKeyUsage.oid.dotted_string)
    if not isinstance(purposes, x509.ExtendedKeyUsage) or ExtendedKeyUsageOID.CODE_SIGNING not in purposes:
        raise RefusedError("wrong_key_usage")
    published = extensions.get(x509.PrecertificateSignedCertificateTimestamps.oid.dotted_string)
    if not isinstance(published, x509.PrecertificateSignedCertificateTimestamps) or not list(published):
        raise RefusedError("missing_sct")


def identity_of(certificate: x509.Certificate) -> Identity:
    """The identity in a certificate.

    Raises:
        RefusedError: there is none, or more than one.
    """
    extensions = _extensions(certificate)
    names = extensions.get(x509.SubjectAlternativeName.oid.dotted_string)
    subjects = [_name(name) for name in names] if isinstance(names, x509.SubjectAlternativeName) else []
    if len(subjects) != 1 or not subjects[0]:
        raise RefusedError("subject_count")
    old, new = _text(extensions, 1, der=False), _text(extensions, 8, der=True)
    if old is not None and new is not None and old != new:
        raise RefusedError("issuer_conflict")
    issuer = new if new is not None else old
    if not issuer:
        raise RefusedError("subject_count")
    claims = {name: _text(extensions, number, der=False) for number, name in _BARE.items()}
    claims |= {name: _text(extensions, number, der=True) for number, name in _DER.items()}
    return Identity(
        subject=subjects[0],
        issuer=issuer,
        claims={name: text for name, text in claims.items() if text is not None},
    )


def key_facts(key: object) -> dict[str, Any]:
    """Algorithm and digest of a public key.

    Raises:
        RefusedError: it is of a kind that is not supported.
    """
    if isinstance(key, ec.EllipticCurvePublicKey):
        algorithm = f"ecdsa-{key.curve.name}"
    elif isinstance(key, rsa.RSAPublicKey):
        algorithm = f"rsa-{key.key_size}"
    elif isinstance(key, ed25519.Ed25519PublicKey):
        algorithm = "ed25519"
    else:
        raise RefusedError("unsupported_key")
    digest = hashes.Hash(hashes.SHA256())
    digest.update(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    return {"algorithm": algorithm, "sha256": digest.finalize().hex()}


def _extensions(certificate: x509.Certificate) -> dict[str, x509.ExtensionType]:
    try:
        return {one.oid.dotted_string: one.value for one in certificate.extensions}
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        raise RefusedError("bad_certificate") from None


def _name(name: x509.GeneralName) -> str | None:
    if isinstance(name, x509.RFC822Name | x509.UniformResourceIdentifier):
        return name.value
    if isinstance(name, x509.OtherName) and name.type_id.dotted_string == _OTHER_NAME:
        return _der_text(name.value)
    return None


def _text(extensions: dict[str, x509.ExtensionType], number: int, *, der: bool) -> str | None:
    value = extensions.get(f"{_ARC}{number}")
    if not isinstance(value, x509.UnrecognizedExtension):
        return None
    if der:
        return _der_text(value.value)
    return _decoded(value.value)


def _der_text(data: bytes) -> str:
    """A DER UTF8String, alone."""
    if len(data) < 2 or data[0] != 0x0C:
        raise RefusedError("bad_certificate")
    length, start = data[1], 2
    if length > 0x80:
        extra = length & 0x7F
        length, start = int.from_bytes(data[2 : 2 + extra], "big"), 2 + extra
    if length == 0x80 or start + length != len(data):
        raise RefusedError("bad_certificate")
    return _decoded(data[start:])


def _decoded(data: bytes) -> str:
    if len(data) > _MAX_CLAIM:
        raise RefusedError("bad_certificate")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("bad_certificate") from None
