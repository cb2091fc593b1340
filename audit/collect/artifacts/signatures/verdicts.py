"""What can be said of a signature, with one code and one sentence for each cause."""

from __future__ import annotations

import enum


class Status(enum.Enum):
    """Verdicts on a signature. Only the first is good; the others are never mixed up."""

    VERIFIED = "verified"
    """The signature is right, and a policy allows who made it."""
    WRONG_IDENTITY = "wrong_identity"
    """The signature is right, and no policy allows who made it."""
    INVALID = "invalid"
    """Something about it is wrong."""
    COULD_NOT_CHECK = "could_not_check"
    """Nobody knows: what it takes to judge is missing, too old, or not supported."""
    UNSIGNED = "unsigned"
    """An artifact that must be signed has no signature."""


_INVALID = {
    "malformed": "it is not a signature of the format that it says it has",
    "duplicate_key": "a key stands twice in the document",
    "trailing_data": "something follows the end of the document",
    "two_contents": "it holds a message signature and an envelope, and must hold one",
    "two_materials": "it names more than one certificate or key",
    "no_material": "it names neither a certificate nor a key",
    "bad_certificate": "its certificate can't be read",
    "not_a_leaf": "its certificate may sign other certificates",
    "subject_count": "its certificate names no signer, or several",
    "issuer_conflict": "its certificate names two different issuers of the identity",
    "wrong_key_usage": "its certificate is not made for signing code",
    "missing_sct": "its certificate has no proof that it was published",
    "bad_sct": "no trusted certificate log has published its certificate",
    "root_in_bundle": "it brings its own root of trust along",
    "untrusted_certificate": "its certificate leads to none of the trusted authorities",
    "ca_window": "the authority behind its certificate was not trusted at that time",
    "ct_key_window": "the key of the certificate log was not trusted at that time",
    "log_key_window": "the key of the transparency log was not trusted at that time",
    "signed_after_expiry": "it was made after its certificate had expired",
    "signed_before_start": "it was made before its certificate was valid",
    "from_the_future": "it is dated later than now",
    "no_log_entry": "it has no entry of a transparency log",
    "entry_count": "it has several entries of transparency logs",
    "unknown_log": "its log entry is from a log that is not trusted",
    "missing_inclusion_proof": "its log entry has no proof of inclusion",
    "missing_checkpoint": "its proof of inclusion has no checkpoint",
    "bad_inclusion_proof": "the proof of inclusion does not lead to the root of the log",
    "bad_checkpoint": "the checkpoint is not signed by the log",
    "checkpoint_differs": "the checkpoint speaks of another state of the log",
    "missing_promise": "it has neither the log's promise nor a timestamp, so its time is unknown",
    "bad_promise": "the log's promise is not signed by the log",
    "log_entry_differs": "the log entry is about another signature",
    "bad_timestamp": "no trusted authority has made its timestamp",
    "duplicate_timestamp": "a timestamp stands in it twice",
    "too_many_timestamps": "it holds more timestamps than anybody needs",
    "unknown_timestamp_authority": "it has a timestamp, and no timestamp authority is trusted",
    "bad_signature": "the signature does not belong to what is signed",
    "digest_mismatch": "it was made for another file",
    "subject_mismatch": "its statement is about other files",
    "bad_statement": "its statement can't be read",
    "image_mismatch": "it was made for another image",
    "model_differs": "the files of the model are not those that were signed",
    "blob_differs": "a part of the image does not have the digest that it is named by",
    "no_configured_key_verifies": "none of the configured keys has made it",
    "signature_count": "its envelope has no signature, or several",
    "refused": "the verifier refused it",
}

_WRONG_IDENTITY = {
    "identity_not_allowed": "the signature is right, and its signer is not among those allowed",
    "key_not_allowed": "the signature is right, and its key is not among those allowed",
    "wrong_predicate_type": "the signature is right, and the policy does not count statements of its type",
    "not_in_log": "the signature is right, and the policy wants it in a transparency log",
    "signers_missing": "not enough of the signers that the policy asks for have signed",
}

_COULD_NOT_CHECK = {
    "no_policy": "nobody has said who may sign it",
    "no_key_configured": "it was made with a key, and no key is configured",
    "no_artifact": "the file that it speaks of is not there, and it holds no digest",
    "artifact_too_large": "the file that it speaks of is larger than the limit",
    "artifact_unreadable": "the file that it speaks of can't be read",
    "signature_unreadable": "the file with the signature can't be read, or is too large",
    "too_many_signatures": "there are more signatures than are looked at",
    "key_unreadable": "a configured key can't be read",
    "root_unreadable": "the trusted root can't be read",
    "root_differs": "the trusted root does not have the digest that the configuration names",
    "root_stale": "the trusted root is older than the configuration allows",
    "unsupported_version": "its version is not supported",
    "unsupported_form": "its form is not supported",
    "unsupported_entry": "its kind of log entry is not supported",
    "unsupported_hash": "its digest algorithm is not supported",
    "unsupported_key": "its kind of key is not supported",
    "certificate_without_log": "a certificate lies beside it, and nothing proves when the signature was made",
    "no_manifest_digest": "the archive does not hold the manifest that signatures speak of",
    "no_subject_digest": "its statement names no digest that is supported",
    "registry_unreachable": "its registry can't be reached, or broke the connection off",
    "registry_untrusted": "nobody proves that who answers is its registry",
    "registry_slow": "its registry did not answer in time",
    "registry_denied": "its registry does not let it be read",
    "registry_has_not": "its registry does not have it",
    "registry_throttled": "its registry was asked too often",
    "registry_failed": "its registry answers with an error",
    "registry_too_large": "its registry sends more than is read",
    "registry_leads_away": "its registry leads to a place that is not followed",
    "registry_not_asked": "the time for its registry, or the number of images, was used up before",
    "not_a_registry": "what answers for its registry is none",
    "unsupported_manifest": "its manifest is of a type that is not supported",
    "verifier_missing": "the sigstore package is not installed",
}

_OTHER = {
    "verified": (Status.VERIFIED, "the signature is right, and its signer is allowed"),
    "unsigned": (Status.UNSIGNED, "it must be signed, and there is no signature"),
}

CODES: dict[str, tuple[Status, str]] = {
    **{code: (Status.INVALID, text) for code, text in _INVALID.items()},
    **{code: (Status.WRONG_IDENTITY, text) for code, text in _WRONG_IDENTITY.items()},
    **{code: (Status.COULD_NOT_CHECK, text) for code, text in _COULD_NOT_CHECK.items()},
    **_OTHER,
}
"""Every code with its verdict and its sentence."""


class RefusedError(Exception):
    """A signature that is not good, with the first cause found.

    Args:
        code: one of `CODES`.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.status, self.message = CODES[code]
        super().__init__(f"{code}: {self.message}")


def verdict_facts(code: str) -> dict[str, str]:
    """A verdict as rules see it."""
    status, message = CODES[code]
    return {"status": status.value, "code": code, "message": message}
