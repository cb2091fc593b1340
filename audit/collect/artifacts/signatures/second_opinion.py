"""What the sigstore library makes of a bundle. It has the last word on every form that it supports."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from cryptography.utils import CryptographyDeprecationWarning

from audit.collect.artifacts.signatures.bundle_shape import Bundle
from audit.collect.artifacts.signatures.verdicts import RefusedError

if TYPE_CHECKING:
    from cryptography import x509
    from sigstore.verify import Verifier

_MESSAGE_ENTRIES = {("hashedrekord", "0.0.1"), ("hashedrekord", "0.0.2")}
_ENVELOPE_ENTRIES = {("dsse", "0.0.1"), ("hashedrekord", "0.0.2")}


def supports(bundle: Bundle) -> bool:
    """Whether the library can judge a bundle: one entry of a kind that it knows, with proof and checkpoint."""
    if len(bundle.entries) != 1:
        return False
    entry = bundle.entries[0]
    kinds = _MESSAGE_ENTRIES if bundle.message_signature is not None else _ENVELOPE_ENTRIES
    proof = entry.inclusion_proof
    return (
        (entry.kind_version.kind, entry.kind_version.version) in kinds
        and proof is not None
        and proof.checkpoint is not None
    )


class Library:
    """The library with one trusted root, which it never fetches.

    Args:
        root: the document.
    """

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._verifier: Verifier | None = None

    def confirm(self, raw: bytes, digest: bytes | None) -> None:
        """Ask it about a bundle; a message signature is verified over the SHA-256 digest.

        Raises:
            RefusedError: it refuses, for whatever reason.
        """
        from sigstore.hashes import Hashed  # heavy: only for bundles
        from sigstore.models import Bundle as LibraryBundle
        from sigstore_models.common.v1 import HashAlgorithm

        try:
            with _quiet():
                verifier = self._made()
                theirs = LibraryBundle.from_json(raw)
                if digest is not None:
                    hashed = Hashed(digest=digest, algorithm=HashAlgorithm.SHA2_256)
                    verifier.verify_artifact(hashed, theirs, _Anybody())
                else:
                    verifier.verify_dsse(theirs, _Anybody())
        except Exception:  # noqa: BLE001  # it lets parsers' errors through; whatever it is, it is no pass
            raise RefusedError("refused") from None

    def _made(self) -> Verifier:
        from sigstore.models import TrustedRoot  # heavy: only for bundles
        from sigstore.verify import Verifier
        from sigstore_models.trustroot.v1 import TrustedRoot as Inner

        if self._verifier is None:
            self._verifier = Verifier(trusted_root=TrustedRoot(Inner.from_json(_open_ended(self._root))))
        return self._verifier


def _open_ended(root: bytes) -> bytes:
    """The root without the ends of timestamp authorities: the library leaves the last moment out, and we have checked it."""
    document = msgspec.json.decode(root)
    for authority in document.get("timestampAuthorities") or ():
        authority["validFor"].pop("end", None)
    return msgspec.json.encode(document)


class _Anybody:
    """Identity is judged afterwards, so that a wrong signer and a wrong signature are told apart."""

    def verify(self, cert: x509.Certificate) -> None:
        """Accept."""


@contextmanager
def _quiet() -> Iterator[None]:
    """The libraries warn about the audited file through logging and warnings; their words are no part of a report."""
    logger = logging.getLogger("sigstore")
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        yield
