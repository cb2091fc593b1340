"""The form in which cosign kept a certificate and the log's promise before there were bundles."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from audit.collect.artifacts.signatures.bundle_shape import KindVersion, LogEntry, LogId, Promise, parse_json
from audit.collect.artifacts.signatures.verdicts import RefusedError


def entry_of(bundle: object) -> LogEntry:
    """The log entry in ``{"SignedEntryTimestamp": ..., "Payload": {...}}``.

    Raises:
        RefusedError: it can't be read.
    """
    try:
        payload = bundle["Payload"]  # type: ignore[index]  # whatever it is not is caught below
        body = base64.b64decode(payload["body"], validate=True)
        kind = parse_json(body)
        return LogEntry(
            log_index=payload["logIndex"],
            log_id=LogId(key_id=bytes.fromhex(payload["logID"])),
            kind_version=KindVersion(kind=str(kind["kind"]), version=str(kind["apiVersion"])),
            integrated_time=payload["integratedTime"],
            inclusion_promise=Promise(
                signed_entry_timestamp=base64.b64decode(bundle["SignedEntryTimestamp"], validate=True)  # type: ignore[index]  # the same
            ),
            canonicalized_body=body,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RefusedError("malformed") from None


def certificate_of(pem: object) -> bytes:
    """A certificate in PEM as DER; the first where there are several.

    Raises:
        RefusedError: it can't be read.
    """
    if not isinstance(pem, str) or len(pem) > 64 << 10:
        raise RefusedError("bad_certificate")
    _, begin, rest = pem.partition("-----BEGIN CERTIFICATE-----")
    body, end, _ = rest.partition("-----END CERTIFICATE-----")
    if not begin or not end:
        raise RefusedError("bad_certificate")
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError("bad_certificate") from None


def parts_of(document: Mapping[str, Any]) -> tuple[bytes, bytes | None, LogEntry | None]:
    """Signature, certificate and log entry of ``cosign sign-blob --bundle``.

    Raises:
        RefusedError: it can't be read.
    """
    try:
        signature = base64.b64decode(document["base64Signature"], validate=True)
        cert = document.get("cert")
        pem = base64.b64decode(cert, validate=True).decode("ascii") if cert else None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RefusedError("malformed") from None
    entry = document.get("rekorBundle")
    if pem is None or "CERTIFICATE-----" not in pem:
        return signature, None, entry_of(entry) if entry else None  # it holds a key, which proves nothing
    return signature, certificate_of(pem), entry_of(entry) if entry else None
