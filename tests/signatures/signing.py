"""Private keys of every kind that is supported, with the signature that each makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


class Signing:
    """A private key with its way of signing."""

    def __init__(self, key: Any, make: Callable[[Any, bytes], bytes]) -> None:
        self.key = key
        self._make = make

    def sign(self, data: bytes) -> bytes:
        return self._make(self.key, data)

    @property
    def pem(self) -> bytes:
        return self.key.public_key().public_bytes(  # type: ignore[no-any-return]
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        )


def ecdsa(curve: Any = None, algorithm: Any = None) -> Signing:
    used = algorithm or hashes.SHA256()
    key = ec.generate_private_key(curve or ec.SECP256R1())
    return Signing(key, lambda key, data: key.sign(data, ec.ECDSA(used)))


def raw_ecdsa() -> Signing:
    """The two numbers side by side."""

    def make(key: Any, data: bytes) -> bytes:
        r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    return Signing(ec.generate_private_key(ec.SECP256R1()), make)


def rsa_pkcs1(bits: int = 2048, algorithm: Any = None) -> Signing:
    used = algorithm or hashes.SHA256()
    key = rsa.generate_private_key(65537, bits)
    return Signing(key, lambda key, data: key.sign(data, padding.PKCS1v15(), used))


def rsa_pss(bits: int = 2048) -> Signing:
    scheme = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=padding.PSS.DIGEST_LENGTH)
    return Signing(
        rsa.generate_private_key(65537, bits), lambda key, data: key.sign(data, scheme, hashes.SHA256())
    )


def eddsa() -> Signing:
    return Signing(ed25519.Ed25519PrivateKey.generate(), lambda key, data: key.sign(data))


KINDS: dict[str, Callable[[], Signing]] = {
    "ecdsa-p256": ecdsa,
    "ecdsa-p256, numbers side by side": raw_ecdsa,
    "ecdsa-p384, sha384": lambda: ecdsa(ec.SECP384R1(), hashes.SHA384()),
    "ecdsa-p384, sha256": lambda: ecdsa(ec.SECP384R1()),
    "ecdsa-p521": lambda: ecdsa(ec.SECP521R1(), hashes.SHA512()),
    "rsa-pkcs1": rsa_pkcs1,
    "rsa-pkcs1, sha512": lambda: rsa_pkcs1(3072, hashes.SHA512()),
    "rsa-pss": rsa_pss,
    "ed25519": eddsa,
}
