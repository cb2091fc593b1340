"""Who made a snapshot: a detached signature over its manifest, as ``cosign verify-blob --key`` and openssl check it too."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.snapshot.form import SnapshotError
from audit.errors import UsageError
from audit.model.gap import GapKind

_MAX_KEY_BYTES = 64 << 10
MAX_SIGNATURE_BYTES = 16 << 10


class TrustedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A public key that may have signed."""

    name: str
    path: Path


class Signer:
    """A private key: ECDSA, RSA or Ed25519, in PEM and without a passphrase.

    Raises:
        UsageError: it can't be used.
    """

    def __init__(self, path: Path) -> None:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        from audit.collect.artifacts.signatures.public_keys import named
        from audit.collect.artifacts.signatures.verdicts import RefusedError

        try:
            with path.open("rb") as file:
                self._key: Any = load_pem_private_key(file.read(_MAX_KEY_BYTES), password=None)
            named(self._key.public_key())
        except OSError as error:
            raise _no_key(path, error.strerror or "it cannot be read") from error
        except TypeError as error:
            raise _no_key(path, "it has a passphrase, and nobody is there to type it") from error
        except (ValueError, UnsupportedAlgorithm, RefusedError) as error:
            raise _no_key(
                path, "it is no PEM file with an ECDSA, RSA or Ed25519 key that is strong enough"
            ) from error

    def sign(self, data: bytes) -> bytes:
        """The signature, in base64."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

        digests = {384: hashes.SHA384(), 521: hashes.SHA512()}
        if isinstance(self._key, ec.EllipticCurvePrivateKey):
            signature = self._key.sign(data, ec.ECDSA(digests.get(self._key.curve.key_size, hashes.SHA256())))
        elif isinstance(self._key, rsa.RSAPrivateKey):
            signature = self._key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        else:
            signature = self._key.sign(data)
        return base64.b64encode(signature) + b"\n"


def signer_of(manifest: bytes, signature: bytes, keys: Sequence[TrustedKey]) -> str:
    """Name of the key that signed.

    Raises:
        SnapshotError: none of them did, or one can't be read: then nobody knows whether it would have verified.
    """
    from audit.collect.artifacts.signatures.contents import BytesContent
    from audit.collect.artifacts.signatures.public_keys import KeyRing, verifies
    from audit.collect.artifacts.signatures.settings import Key
    from audit.collect.artifacts.signatures.verdicts import RefusedError

    try:
        raw = base64.b64decode(b"".join(signature.split()), validate=True)
        ring = KeyRing([Key(name=key.name, path=str(key.path)) for key in keys], base=Path())
        known, content = ring.keys(), BytesContent(manifest)
        for key in known:
            if verifies(key, raw, content):
                return key.name
    except binascii.Error as error:
        raise SnapshotError(GapKind.UNTRUSTED, "its signature is no base64") from error
    except RefusedError as error:
        reason = "a key of snapshots.keys can't be read, or is of a kind that is not supported"
        raise SnapshotError(GapKind.UNTRUSTED, reason) from error
    raise SnapshotError(
        GapKind.UNTRUSTED,
        "its manifest was changed after it was signed, or signed with a key that is not in snapshots.keys",
        hint="collect the cluster again, with --sign-key",
    )


def _no_key(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"the snapshot can't be signed: {reason}",
        file=str(path),
        suggestion="openssl ecparam -name prime256v1 -genkey -noout makes one",
    )
