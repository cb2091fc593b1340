"""Signatures made with plain keys: ECDSA, RSA and Ed25519."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from audit.collect.artifacts.signatures.certificates import key_facts
from audit.collect.artifacts.signatures.contents import Content
from audit.collect.artifacts.signatures.settings import Key
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_KEY_BYTES = 64 << 10
MIN_RSA_BITS = 2048
MAX_RSA_BITS = 16384
_HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}
# The digest that belongs to a curve first; then the one that older versions of cosign always used.
_CURVES = {
    "secp256r1": ("sha256",),
    "secp384r1": ("sha384", "sha256"),
    "secp521r1": ("sha512", "sha256"),
}

Supported = ec.EllipticCurvePublicKey | rsa.RSAPublicKey | ed25519.Ed25519PublicKey


class NamedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that can verify."""

    name: str
    """Empty for one that nobody has configured."""
    key: Any
    """One of `Supported`."""
    facts: dict[str, Any]


class KeyRing:
    """The configured keys, read when the first signature needs them.

    Args:
        keys: names and files.
        base: folder that relative paths begin at.
    """

    def __init__(self, keys: Sequence[Key], *, base: Path) -> None:
        self._settings = keys
        self._base = base
        self._keys: tuple[NamedKey, ...] | None = None

    def keys(self) -> tuple[NamedKey, ...]:
        """All of them.

        Raises:
            RefusedError: none is configured, or one can't be read: then nobody knows whether it would have verified.
        """
        if not self._settings:
            raise RefusedError("no_key_configured")
        if self._keys is None:
            self._keys = tuple(self._read(key) for key in self._settings)
        return self._keys

    def _read(self, key: Key) -> NamedKey:
        try:
            with (self._base / key.path).open("rb") as file:
                data = file.read(MAX_KEY_BYTES)
            return load_key(data, name=key.name)
        except (OSError, RefusedError):
            raise RefusedError("key_unreadable") from None


def load_key(pem: bytes, *, name: str = "") -> NamedKey:
    """A public key in PEM.

    Raises:
        RefusedError: it is none, or is not supported, or is too weak.
    """
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise RefusedError("key_unreadable") from None
    return named(key, name=name)


def named(key: object, *, name: str = "") -> NamedKey:
    """A key of the supported kinds and strengths.

    Raises:
        RefusedError: it is not.
    """
    if isinstance(key, rsa.RSAPublicKey) and not MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS:
        raise RefusedError("unsupported_key")
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name not in _CURVES:
        raise RefusedError("unsupported_key")
    return NamedKey(name=name, key=key, facts=key_facts(key))


def verifies(named_key: NamedKey, signature: bytes, content: Content) -> bool:
    """Whether the key has made the signature over the content.

    Raises:
        RefusedError: what it takes to verify can't be had.
    """
    key = named_key.key
    if isinstance(key, ed25519.Ed25519PublicKey):
        return _ed25519(key, signature, content)
    if isinstance(key, ec.EllipticCurvePublicKey):
        return _ecdsa(key, signature, content)
    if isinstance(key, rsa.RSAPublicKey):
        return _rsa(key, signature, content)
    raise RefusedError("unsupported_key")


def _ecdsa(key: ec.EllipticCurvePublicKey, signature: bytes, content: Content) -> bool:
    size = (key.curve.key_size + 7) // 8
    forms = [signature]
    if len(signature) == 2 * size:
        # Some signers write the two numbers side by side instead of DER.
        r, s = int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big")
        forms.append(encode_dss_signature(r, s))
    for digest, algorithm in _digests(content, _CURVES[key.curve.name]):
        for form in forms:
            with suppress(InvalidSignature):
                key.verify(form, digest, ec.ECDSA(Prehashed(algorithm)))
                return True
    return False


def _rsa(key: rsa.RSAPublicKey, signature: bytes, content: Content) -> bool:
    if len(signature) != (key.key_size + 7) // 8:
        return False
    for digest, algorithm in _digests(content, ("sha256", "sha512")):
        pss = padding.PSS(mgf=padding.MGF1(algorithm), salt_length=padding.PSS.AUTO)
        for scheme in (padding.PKCS1v15(), pss):
            with suppress(InvalidSignature):
                key.verify(signature, digest, scheme, Prehashed(algorithm))
                return True
    return False


def _ed25519(key: ed25519.Ed25519PublicKey, signature: bytes, content: Content) -> bool:
    data = content.data()
    with suppress(InvalidSignature):
        key.verify(signature, data)
        return True
    return False


def _digests(content: Content, names: Sequence[str]) -> Iterator[tuple[bytes, hashes.HashAlgorithm]]:
    """Digests that can be had; when none can, that is the answer."""
    missing: RefusedError | None = None
    found = False
    for name in names:
        try:
            digest = content.digest(name)
        except RefusedError as refusal:
            missing = refusal
            continue
        found = True
        yield digest, _HASHES[name]
    if not found and missing is not None:
        raise missing
