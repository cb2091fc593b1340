"""Reads bare signatures: ``X.sig`` beside ``X``, made with a configured key."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.collect.artifacts.reading import Artifact, Facts
from audit.collect.artifacts.signatures.beside import in_folder, without_suffix
from audit.collect.artifacts.signatures.bundle_shape import UNKNOWN_FORM
from audit.collect.artifacts.signatures.bundles import bundle_spec
from audit.collect.artifacts.signatures.contents import Content
from audit.collect.artifacts.signatures.desk import Desk
from audit.collect.artifacts.signatures.judging import Checked, refused
from audit.collect.artifacts.signatures.signers import CompiledPolicy
from audit.collect.artifacts.signatures.verdicts import RefusedError

if TYPE_CHECKING:
    from audit.collect.artifacts.signatures.public_keys import NamedKey

MAX_SIGNATURE_BYTES = 64 << 10
FORM: dict[str, Any] = {
    **UNKNOWN_FORM,
    "version": "detached",
    "material": "public key",
    "content": "message",
}
_CERTIFICATES = (".crt", ".cert", ".pem")
_RSA_SIZES = {256, 384, 512, 1024, 2048}
_RAW_SIZES = {64, 96, 132} | _RSA_SIZES


class DetachedReader:
    """Bare signatures.

    Args:
        desk: what the readers of signatures share.
    """

    name = "detached signature"
    suffixes = frozenset({".sig"})
    kinds = frozenset({"SignatureBundle"})
    shares = False

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def recognises(self, artifact: Artifact) -> bool:
        """Whether its name is that of a signature, and it is not large."""
        return artifact.name.lower().endswith(".sig") and 0 < artifact.size <= MAX_SIGNATURE_BYTES

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """One fact."""
        signed = in_folder(artifact.path.parent, without_suffix(artifact.name) or "")
        content = self._desk.file(signed, max_memory=artifact.max_bytes) if signed is not None else None
        label = without_suffix(artifact.label)
        policy = self._desk.policies.of([artifact.label] if label is None else [label, artifact.label])
        checked = check_detached(self._desk, artifact.path, content, policy)
        status = "absent" if content is None else "matched" if checked.valid else "unknown"
        about = {"status": status, "name": signed.name if signed is not None else None}
        yield Facts(
            kind="SignatureBundle",
            name=artifact.label,
            spec=bundle_spec(checked, checked.code, self._desk, artifact=about),
        )


def check_detached(desk: Desk, path: Path, content: Content | None, policy: CompiledPolicy | None) -> Checked:
    """The verdict on a bare signature."""
    if content is None:
        return refused(RefusedError("no_artifact"), form=FORM, policy=policy)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SIGNATURE_BYTES + 1)
        signature = signature_of(data)
        beside, certified = _key_beside(path)
    except OSError:
        return refused(RefusedError("signature_unreadable"), form=FORM, policy=policy)
    except RefusedError as refusal:
        return refused(refusal, form=FORM, policy=policy)
    if certified:
        form = {**FORM, "material": "certificate"}
        return refused(RefusedError("certificate_without_log"), form=form, policy=policy)
    return desk.checker.detached(signature, content, policy, beside=beside, form=FORM)


def signature_of(data: bytes) -> bytes:
    """The signature in a file: base64 as cosign writes it, or as it is.

    Raises:
        RefusedError: it is of another kind, such as OpenPGP or SSH, or none.
    """
    if len(data) > MAX_SIGNATURE_BYTES:
        raise RefusedError("signature_unreadable")
    if data.lstrip().startswith(b"-----BEGIN") or data.startswith(b"untrusted comment:"):
        raise RefusedError("unsupported_form")
    try:
        decoded = base64.b64decode(b"".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    for candidate in (decoded, data):
        if candidate[:1] == b"\x30" or len(candidate) in _RAW_SIZES:
            return candidate
    raise RefusedError("unsupported_form")


def _key_beside(path: Path) -> tuple[NamedKey | None, bool]:
    """A public key or a certificate that lies beside the signature; neither is trusted for that."""
    from audit.collect.artifacts.signatures.public_keys import MAX_KEY_BYTES, load_key  # heavy

    base = without_suffix(path.name) or path.name
    for suffix in (".pub", *_CERTIFICATES):
        found = in_folder(path.parent, base + suffix)
        if found is None:
            continue
        with found.open("rb") as file:
            pem = file.read(MAX_KEY_BYTES)
        if b"CERTIFICATE-----" in pem:
            return None, True
        try:
            return load_key(pem), False
        except RefusedError:
            continue
    return None, False
