"""Timestamps of authorities (RFC 3161): which of those in a bundle can be believed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from cryptography import x509

from audit.collect.artifacts.signatures.trust_root import Authority
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_TIMESTAMPS = 32


def verified_times(
    answers: Sequence[bytes], signature: bytes, authorities: Sequence[Authority]
) -> tuple[dt.datetime, ...]:
    """The times of those answers that a trusted authority made over the signature. Others are left out: anybody may add one.

    Raises:
        RefusedError: one is no timestamp, stands twice, or there are too many.
    """
    if len(answers) > MAX_TIMESTAMPS:
        raise RefusedError("too_many_timestamps")
    if len(set(answers)) != len(answers):
        raise RefusedError("duplicate_timestamp")
    if answers and not authorities:
        raise RefusedError("unknown_timestamp_authority")
    found = (_time(answer, signature, authorities) for answer in answers)
    return tuple(moment for moment in found if moment is not None)


def _time(answer: bytes, signature: bytes, authorities: Sequence[Authority]) -> dt.datetime | None:
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response  # with sigstore

    try:
        decoded = decode_timestamp_response(answer)
        moment = decoded.tst_info.gen_time
    except ValueError:
        raise RefusedError("bad_timestamp") from None
    for authority in authorities:
        leaf, *others = _chain(authority)
        if not others or not authority.valid_for.holds(moment):
            continue
        builder = VerifierBuilder().tsa_certificate(leaf).add_root_certificate(others[-1])
        for one in others[:-1]:
            builder = builder.add_intermediate_certificate(one)
        try:
            builder.build().verify_message(decoded, signature)
        except (VerificationError, ValueError):
            continue
        return moment
    return None


def _chain(authority: Authority) -> list[x509.Certificate]:
    try:
        found = [x509.load_der_x509_certificate(one.raw_bytes) for one in authority.cert_chain.certificates]
    except ValueError:
        raise RefusedError("root_unreadable") from None
    if not found:
        raise RefusedError("root_unreadable")
    return found
