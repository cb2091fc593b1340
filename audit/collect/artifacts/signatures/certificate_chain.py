"""Our own check of a signer's certificate, for signatures that the library does not support: its authority, and its publication."""

from __future__ import annotations

import datetime as dt
import hashlib
import struct
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.certificate_transparency import LogEntryType, SignedCertificateTimestamp
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    PolicyBuilder,
    Store,
    VerificationError,
)

from audit.collect.artifacts.signatures.certificates import load
from audit.collect.artifacts.signatures.log_entries import verified_by
from audit.collect.artifacts.signatures.trust_root import Authority, Log
from audit.collect.artifacts.signatures.verdicts import RefusedError


def issuer_of(
    certificate: x509.Certificate, authorities: Sequence[Authority], times: Sequence[dt.datetime]
) -> x509.Certificate:
    """The certificate that issued it, of an authority that was trusted at all of the times.

    Raises:
        RefusedError: there is none, or it was not trusted then.
    """
    late = False
    for authority in authorities:
        issuer = _issuer(certificate, authority, times)
        if issuer is None:
            continue
        if all(authority.valid_for.holds(moment) for moment in times):
            return issuer
        late = True
    raise RefusedError("ca_window" if late else "untrusted_certificate")


def refuse_roots(others: Sequence[bytes]) -> None:
    """The certificates that a bundle brings along may not be roots: trust never comes from the bundle itself.

    Raises:
        RefusedError: one of them has signed itself.
    """
    for der in others:
        certificate = load(der)
        if certificate.issuer == certificate.subject:
            raise RefusedError("root_in_bundle")


def check_publication(certificate: x509.Certificate, issuer: x509.Certificate, logs: Sequence[Log]) -> None:
    """A certificate log that was trusted then has signed that it saw the certificate (RFC 6962, 3.2).

    Raises:
        RefusedError: none has.
    """
    found = certificate.extensions.get_extension_for_class(x509.PrecertificateSignedCertificateTimestamps)
    receipts = list(found.value)
    if len(receipts) != 1:
        raise RefusedError("bad_sct")
    receipt = receipts[0]
    log = next((log for log in logs if log.log_id.key_id == receipt.log_id), None)
    if log is None or not _signed(receipt, certificate, issuer, log):
        raise RefusedError("bad_sct")
    if not log.public_key.valid_for.holds(receipt.timestamp.replace(tzinfo=dt.UTC)):
        raise RefusedError("ct_key_window")


def _issuer(
    certificate: x509.Certificate, authority: Authority, times: Sequence[dt.datetime]
) -> x509.Certificate | None:
    """The next certificate on the way to the authority; None when there is no way at one of the times."""
    store = _store(authority)
    # The purpose is checked elsewhere: verifiers of web servers and clients know code signing not at all.
    of_authorities = ExtensionPolicy.webpki_defaults_ca().may_be_present(
        x509.ExtendedKeyUsage, Criticality.NON_CRITICAL, None
    )
    of_signers = ExtensionPolicy.webpki_defaults_ee().may_be_present(
        x509.ExtendedKeyUsage, Criticality.NON_CRITICAL, None
    )
    found: x509.Certificate | None = None
    for moment in times:
        builder = PolicyBuilder().store(store).time(moment.replace(tzinfo=None))
        builder = builder.extension_policies(ca_policy=of_authorities, ee_policy=of_signers)
        try:
            found = builder.build_client_verifier().verify(certificate, []).chain[1]
        except (VerificationError, ValueError, x509.UnsupportedGeneralNameType):
            return None
    return found


def _store(authority: Authority) -> Store:
    try:
        return Store([load(one.raw_bytes) for one in authority.cert_chain.certificates])
    except (RefusedError, ValueError):
        raise RefusedError("root_unreadable") from None


def _signed(
    receipt: SignedCertificateTimestamp, certificate: x509.Certificate, issuer: x509.Certificate, log: Log
) -> bool:
    if receipt.entry_type is not LogEntryType.PRE_CERTIFICATE or not isinstance(
        receipt.signature_hash_algorithm, hashes.SHA256
    ):
        return False
    key = issuer.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    body = certificate.tbs_precertificate_bytes
    moment = receipt.timestamp.replace(tzinfo=dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    data = (
        struct.pack(">BBQH", receipt.version.value, 0, moment // dt.timedelta(milliseconds=1), 1)
        + hashlib.sha256(key).digest()
        + len(body).to_bytes(3, "big")
        + body
        + struct.pack(">H", len(receipt.extension_bytes))
        + receipt.extension_bytes
    )
    return verified_by(log, receipt.signature, data)
