"""The manifest of a snapshot, read and believed before anything else of it is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from audit.collect.snapshot.form import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SIGNATURE,
    Manifest,
    SnapshotError,
    decode_manifest,
)
from audit.collect.snapshot.signing import MAX_SIGNATURE_BYTES, TrustedKey, signer_of
from audit.collect.snapshot.storage import Place, place_of
from audit.model.gap import GapKind, Notice


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot whose manifest holds."""

    place: Place
    manifest: Manifest
    sha256: str
    """Of the manifest, hex."""
    signed_by: str
    """Name of the key; empty when there is no signature, or nothing to check it with."""
    notices: tuple[Notice, ...]


def open_snapshot(text: str, keys: Sequence[TrustedKey]) -> Opened:
    """Read the manifest and check who signed it.

    Args:
        text: path or address.
        keys: who may have signed. Where there are any, one of them must have; where there are none, nothing is believed
            of a signature, and that is said.

    Raises:
        SnapshotError: it can't be read, or must not be believed.
    """
    place = place_of(text)
    data = _read(place, MANIFEST, MAX_MANIFEST_BYTES)
    if data is None:
        raise SnapshotError(
            GapKind.ABSENT,
            "there is no manifest: no snapshot, or one that was never finished",
            hint="collect again",
        )
    signature = _read(place, SIGNATURE, MAX_SIGNATURE_BYTES)
    signed_by, notices = "", []
    if keys:
        if signature is None:
            raise SnapshotError(
                GapKind.UNTRUSTED,
                "it is not signed, and snapshots.keys says who must have signed",
                hint="collect the cluster again, with --sign-key",
            )
        signed_by = signer_of(data, signature, keys)
    else:
        said = "not signed" if signature is None else "signed, and no key is configured to check that with"
        notices.append(
            Notice(
                source=text,
                code="snapshot_unchecked",
                message=f"{said}: who made it, nobody knows (snapshots.keys)",
            )
        )
    return Opened(
        place=place,
        manifest=decode_manifest(data),
        sha256=hashlib.sha256(data).hexdigest(),
        signed_by=signed_by,
        notices=tuple(notices),
    )


def _read(place: Place, name: str, most: int) -> bytes | None:
    try:
        with place.open(name) as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        kind = GapKind.FORBIDDEN if isinstance(error, PermissionError) else GapKind.UNREACHABLE
        raise SnapshotError(kind, f"{name} can't be read: {error.strerror or error}") from error
    if len(data) > most:
        raise SnapshotError(GapKind.TOO_LARGE, f"{name} has more than {most} bytes")
    return data
