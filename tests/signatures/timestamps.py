"""A timestamp authority: certificates of our own, answers by openssl."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.signatures.sigstore_chain import b64, iso, new_key

CONFIG = """[tsa]
default_tsa = t
[t]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ordering = no
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


class TimestampAuthority:
    """Stamps with the time of the machine, because openssl does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.now = dt.datetime.now(dt.UTC)
        root_key, key = new_key(), new_key()
        self.root = self._certificate("tsa root", "tsa root", root_key, root_key, ca=True)
        self.leaf = self._certificate("tsa", "tsa root", key, root_key, ca=False)
        (folder / "tsa.pem").write_bytes(self.leaf.public_bytes(Encoding.PEM))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "tsa.key").write_bytes(private)
        (folder / "serial").write_text("01\n")
        (folder / "config").write_text(CONFIG.format(folder=folder))

    def _certificate(self, name: str, issuer: str, key: Any, signer: Any, *, ca: bool) -> x509.Certificate:
        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        usage = x509.KeyUsage(not ca, False, False, False, False, ca, ca, False, False)
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.now - dt.timedelta(days=30))
            .not_valid_after(self.now + dt.timedelta(days=3650))
            .add_extension(x509.BasicConstraints(ca, None), True)
            .add_extension(usage, True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
        )
        if not ca:
            builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), True)
        return builder.sign(signer, hashes.SHA256())

    def stamp(self, message: bytes) -> bytes:
        (self.folder / "message").write_bytes(message)
        query, answer = self.folder / "query", self.folder / "answer"
        for command in (
            ["-query", "-data", self.folder / "message", "-sha256", "-cert", "-out", query],
            ["-reply", "-config", self.folder / "config", "-queryfile", query, "-out", answer],
        ):
            subprocess.run(["openssl", "ts", *command], check=True, capture_output=True, timeout=60)
        return answer.read_bytes()

    def trusted(self, **window: dt.datetime) -> dict[str, Any]:
        valid = {"start": iso(self.now - dt.timedelta(days=20))}
        valid |= {name: iso(moment) for name, moment in window.items()}
        chain = [{"rawBytes": b64(one.public_bytes(Encoding.DER))} for one in (self.leaf, self.root)]
        return {
            "subject": {"organization": "test", "commonName": "tsa"},
            "uri": "https://tsa.test",
            "certChain": {"certificates": chain},
            "validFor": valid,
        }
