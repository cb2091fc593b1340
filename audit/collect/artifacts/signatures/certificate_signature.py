"""Verifies a signature made with a certificate: each check has its own cause, and its own place in time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from audit.collect.artifacts.signatures import certificates, public_keys
from audit.collect.artifacts.signatures.bundle_shape import Envelope, LogEntry
from audit.collect.artifacts.signatures.certificate_chain import check_publication, issuer_of
from audit.collect.artifacts.signatures.certificates import Identity
from audit.collect.artifacts.signatures.contents import Content
from audit.collect.artifacts.signatures.entry_bodies import check_certificate_in_entry
from audit.collect.artifacts.signatures.log_entries import Logged, check_entry
from audit.collect.artifacts.signatures.timestamps import verified_times
from audit.collect.artifacts.signatures.trust_root import Root
from audit.collect.artifacts.signatures.verdicts import RefusedError

_SKEW = dt.timedelta(minutes=5)


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """A signature with all that came with it."""

    certificate: bytes
    signature: bytes
    content: Any
    """`Content` that the signature is over."""
    entry: LogEntry
    envelope: Envelope | None = None
    stamps: tuple[bytes, ...] = ()
    proof_needed: bool = True
    """False for old forms, in which the promise of the log is all there is."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a good signature made with a certificate proves."""

    identity: Identity
    logged: Logged
    times: tuple[dt.datetime, ...]
    time_source: str
    key: dict[str, Any]


def verify(signed: Signed, root: Root, *, now: dt.datetime) -> Verified:
    """Verify a signature down to the trusted root.

    Args:
        signed: the signature.
        root: whom to trust, and when.
        now: the moment of judging.

    Raises:
        RefusedError: it is not good, or can't be verified.
    """
    content: Content = signed.content
    certificate = certificates.load(signed.certificate)
    certificates.check_profile(certificate)
    identity = certificates.identity_of(certificate)
    key = certificates.public_key_of(certificate)
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise RefusedError("unsupported_key")
    maker = public_keys.named(key)
    logged = check_entry(signed.entry, root, now=now, proof_needed=signed.proof_needed)
    times, source = _times(signed, logged, root)
    _check_times(certificate, logged, times, now=now)
    if not public_keys.verifies(maker, signed.signature, content):
        raise RefusedError("bad_signature")
    check_publication(certificate, issuer_of(certificate, root.certificate_authorities, times), root.ctlogs)
    check_certificate_in_entry(signed.entry, signed.signature, content, signed.envelope, certificate)
    return Verified(identity=identity, logged=logged, times=times, time_source=source, key=maker.facts)


def _times(signed: Signed, logged: Logged, root: Root) -> tuple[tuple[dt.datetime, ...], str]:
    """Every time that is proved; all of them must fit."""
    stamped = verified_times(signed.stamps, signed.signature, root.timestamp_authorities)
    promised = (logged.integrated,) if logged.integrated is not None else ()
    if not stamped and not promised:
        raise RefusedError("bad_timestamp" if signed.stamps else "missing_promise")
    return (*promised, *stamped), "log" if promised else "timestamp"


def _check_times(
    certificate: x509.Certificate, logged: Logged, times: Sequence[dt.datetime], *, now: dt.datetime
) -> None:
    if max(times) > now + _SKEW:
        raise RefusedError("from_the_future")
    if min(times) < certificate.not_valid_before_utc:
        raise RefusedError("signed_before_start")
    if max(times) > certificate.not_valid_after_utc:
        raise RefusedError("signed_after_expiry")
    if any(not logged.key.public_key.valid_for.holds(moment) for moment in times):
        raise RefusedError("log_key_window")
