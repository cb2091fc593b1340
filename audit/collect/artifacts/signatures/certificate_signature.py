"""Verifies a bundle made with a certificate: our own checks first, each with its own cause, then sigstore's on top.

The library leaves out the ends of the time windows in the trusted root. It is therefore handed only the authorities and
logs that were trusted at the time of signing; the library then has the last word on everything else.
"""

from __future__ import annotations

import datetime as dt
import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.utils import CryptographyDeprecationWarning

from audit.collect.artifacts.signatures import certificates
from audit.collect.artifacts.signatures.bundle_shape import Bundle, LogEntry
from audit.collect.artifacts.signatures.certificates import Identity
from audit.collect.artifacts.signatures.log_entries import Logged, check_entry
from audit.collect.artifacts.signatures.timestamps import verified_times
from audit.collect.artifacts.signatures.trust_root import LoadedRoot, Window
from audit.collect.artifacts.signatures.verdicts import RefusedError

if TYPE_CHECKING:
    from sigstore.verify import Verifier

# The library would take any curve.
_CURVES = {"secp256r1", "secp384r1", "secp521r1"}
_MESSAGE_ENTRIES = {("hashedrekord", "0.0.1"), ("hashedrekord", "0.0.2")}
_ENVELOPE_ENTRIES = {("dsse", "0.0.1"), ("hashedrekord", "0.0.2")}


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a good signature made with a certificate proves."""

    identity: Identity
    logged: Logged
    times: tuple[dt.datetime, ...]
    time_source: str
    key: dict[str, Any]


class CertificateVerifier:
    """Verifies with one trusted root.

    Args:
        root: whom to trust.
        now: the moment of judging.
    """

    def __init__(self, root: LoadedRoot, *, now: dt.datetime) -> None:
        self._root = root
        self._now = now
        self._verifiers: dict[tuple[frozenset[int], ...], Verifier] = {}

    def verify(self, bundle: Bundle, raw: bytes, digest: bytes | None) -> Verified:
        """Verify a bundle; a message signature is verified over the SHA-256 digest.

        Raises:
            RefusedError: it is not good, or can't be verified.
        """
        entry = _the_entry(bundle)
        certificate = certificates.load(bundle.certificate or b"")
        certificates.check_profile(certificate)
        identity = certificates.identity_of(certificate)
        key = certificates.public_key_of(certificate)
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name not in _CURVES:
            raise RefusedError("unsupported_key")
        logged = check_entry(entry, self._root.root, now=self._now)
        times, source = self._times(bundle, logged)
        _check_times(certificate, times, now=self._now)
        if any(not logged.key.public_key.valid_for.holds(moment) for moment in times):
            raise RefusedError("log_key_window")
        _check_signature(bundle, key, digest)
        self._ask_library(bundle, raw, digest, certificate, times)
        return Verified(
            identity=identity,
            logged=logged,
            times=times,
            time_source=source,
            key=certificates.key_facts(key),
        )

    def _times(self, bundle: Bundle, logged: Logged) -> tuple[tuple[dt.datetime, ...], str]:
        """Every time that is proved; all of them must fit."""
        raw = [one.signed_timestamp for one in bundle.timestamps]
        stamped = verified_times(raw, _signature(bundle), self._root.root.timestamp_authorities)
        promised = (logged.integrated,) if logged.integrated is not None else ()
        if not stamped and not promised:
            raise RefusedError("bad_timestamp" if raw else "missing_promise")
        return (*promised, *stamped), "log" if promised else "timestamp"

    def _ask_library(
        self,
        bundle: Bundle,
        raw: bytes,
        digest: bytes | None,
        certificate: x509.Certificate,
        times: tuple[dt.datetime, ...],
    ) -> None:
        root = self._root.root
        authorities = _indexes((one.valid_for for one in root.certificate_authorities), times)
        logs = _indexes((one.public_key.valid_for for one in root.tlogs), times)
        published = _indexes((one.public_key.valid_for for one in root.ctlogs), _publication(certificate))
        stamps = frozenset(
            range(len(root.timestamp_authorities))
        )  # of these the library keeps the time itself
        everything = frozenset(range(len(root.certificate_authorities)))
        every_ct_log = frozenset(range(len(root.ctlogs)))
        code = self._library_code(bundle, raw, digest, authorities, logs, published, stamps)
        if code is None:
            return
        # Was it only the time? Then it is said so.
        if code == "untrusted_certificate" and authorities != everything:
            outside = self._library_code(bundle, raw, digest, everything, logs, published, stamps)
            code = code if outside == code else "ca_window"
        if code == "bad_sct" and published != every_ct_log:
            outside = self._library_code(bundle, raw, digest, authorities, logs, every_ct_log, stamps)
            code = code if outside == code else "ct_key_window"
        raise RefusedError(code)

    def _library_code(
        self, bundle: Bundle, raw: bytes, digest: bytes | None, *parts: frozenset[int]
    ) -> str | None:
        """None when the library accepts, else why not."""
        from cryptography.x509.verification import VerificationError as ChainError  # with the rest
        from sigstore.errors import CertValidationError, VerificationError  # heavy: only for bundles
        from sigstore.hashes import Hashed  # heavy: only for bundles
        from sigstore.models import Bundle as LibraryBundle  # heavy: only for bundles
        from sigstore_models.common.v1 import HashAlgorithm  # heavy: only for bundles

        authorities, _, published, _ = parts
        if not authorities:
            return "untrusted_certificate"
        if not published:
            return "bad_sct"
        try:
            with _quiet():
                verifier = self._verifier(*parts)
                theirs = LibraryBundle.from_json(raw)
                if digest is not None:
                    hashed = Hashed(digest=digest, algorithm=HashAlgorithm.SHA2_256)
                    verifier.verify_artifact(hashed, theirs, _Anybody())
                else:
                    verifier.verify_dsse(theirs, _Anybody())
        except (CertValidationError, ChainError):
            return "untrusted_certificate"
        except VerificationError as error:
            return _code_of(str(error), stamped=bool(bundle.timestamps))
        except Exception:  # noqa: BLE001  # the library lets parsers' errors through; whatever it is, it is no pass
            return "refused"
        return None

    def _verifier(self, *parts: frozenset[int]) -> Verifier:
        from sigstore.models import TrustedRoot  # heavy: only for bundles
        from sigstore.verify import Verifier  # heavy: only for bundles
        from sigstore_models.trustroot.v1 import TrustedRoot as Inner  # heavy: only for bundles

        known = self._verifiers.get(parts)
        if known is None:
            document = dict(self._root.document)
            names = ("certificateAuthorities", "tlogs", "ctlogs", "timestampAuthorities")
            for name, kept in zip(names, parts, strict=True):
                document[name] = [one for i, one in enumerate(document.get(name) or ()) if i in kept]
            inner = Inner.from_json(msgspec.json.encode(document))
            known = self._verifiers[parts] = Verifier(trusted_root=TrustedRoot(inner))
        return known


class _Anybody:
    """Identity is judged afterwards, so that a wrong signer and a wrong signature are told apart."""

    def verify(self, cert: x509.Certificate) -> None:
        """Accept."""


def _the_entry(bundle: Bundle) -> LogEntry:
    if not bundle.entries:
        raise RefusedError("no_log_entry")
    if len(bundle.entries) > 1:
        raise RefusedError("entry_count")
    entry = bundle.entries[0]
    kind = (entry.kind_version.kind, entry.kind_version.version)
    supported = _MESSAGE_ENTRIES if bundle.message_signature else _ENVELOPE_ENTRIES
    if kind not in supported:
        raise RefusedError("unsupported_entry")
    proof = entry.inclusion_proof
    if bundle.version == "0.1" and entry.inclusion_promise and (proof is None or proof.checkpoint is None):
        raise RefusedError("promise_only")
    return entry


def _signature(bundle: Bundle) -> bytes:
    if bundle.dsse_envelope is not None:
        return bundle.dsse_envelope.signatures[0].sig
    return bundle.message_signature.signature if bundle.message_signature is not None else b""


def _check_times(certificate: x509.Certificate, times: tuple[dt.datetime, ...], *, now: dt.datetime) -> None:
    if max(times) > now + dt.timedelta(minutes=5):
        raise RefusedError("from_the_future")
    if min(times) < certificate.not_valid_before_utc:
        raise RefusedError("signed_before_start")
    if max(times) > certificate.not_valid_after_utc:
        raise RefusedError("signed_after_expiry")


def _check_signature(bundle: Bundle, key: ec.EllipticCurvePublicKey, digest: bytes | None) -> None:
    try:
        if bundle.message_signature is not None and digest is not None:
            key.verify(bundle.message_signature.signature, digest, ec.ECDSA(Prehashed(hashes.SHA256())))
        elif bundle.dsse_envelope is not None:
            envelope = bundle.dsse_envelope
            key.verify(envelope.signatures[0].sig, envelope.signed_bytes, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise RefusedError("bad_signature") from None


def _publication(certificate: x509.Certificate) -> tuple[dt.datetime, ...]:
    """When certificate logs say that they saw the certificate."""
    found = certificate.extensions.get_extension_for_class(x509.PrecertificateSignedCertificateTimestamps)
    return tuple(one.timestamp.replace(tzinfo=dt.UTC) for one in found.value)


def _indexes(windows: Iterable[Window], times: tuple[dt.datetime, ...]) -> frozenset[int]:
    """Which of them were open at every one of the times."""
    return frozenset(
        index for index, window in enumerate(windows) if all(window.holds(moment) for moment in times)
    )


def _code_of(text: str, *, stamped: bool) -> str:
    """The cause in the library's words; what is not recognised is refused all the same."""
    if "SCT" in text or "certificate timestamp" in text:
        return "bad_sct"
    if "verified time" in text:
        return "bad_timestamp" if stamped else "missing_promise"
    if "log entry" in text:
        return "log_entry_differs"
    if stamped and "imestamp" in text:
        return "bad_timestamp"
    return "refused"


@contextmanager
def _quiet() -> Iterator[None]:
    """The libraries warn about the audited file through logging and warnings; their words are no part of a report."""
    logger = logging.getLogger("sigstore")
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        yield
