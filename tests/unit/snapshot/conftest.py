from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from audit.native.reader import Reader


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(jobs=1) as found:
        yield found


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Key pairs by name: files of the private and of the public key."""
    folder = tmp_path_factory.mktemp("keys")
    made = {
        "ecdsa": ec.generate_private_key(ec.SECP256R1()),
        "p384": ec.generate_private_key(ec.SECP384R1()),
        "rsa": rsa.generate_private_key(65537, 2048),
        "ed25519": ed25519.Ed25519PrivateKey.generate(),
        "other": ec.generate_private_key(ec.SECP256R1()),
    }
    found = {}
    for name, key in made.items():
        private, public = folder / f"{name}.pem", folder / f"{name}.pub"
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        found[name] = (private, public)
    return found
