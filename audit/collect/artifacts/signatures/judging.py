"""Verdicts: from a signature that is right, or a reason against it, to what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.collect.artifacts.signatures.bundle_shape import UNKNOWN_FORM, Bundle, Envelope
from audit.collect.artifacts.signatures.contents import Content, DigestContent
from audit.collect.artifacts.signatures.signers import CompiledPolicy, Who
from audit.collect.artifacts.signatures.statements import Statement, statement_of
from audit.collect.artifacts.signatures.verdicts import RefusedError, Status, verdict_facts

_DIGEST_NAMES = {"SHA2_256": "sha256", "SHA2_384": "sha384", "SHA2_512": "sha512"}
_DIGEST_SIZES = {"sha256": 32, "sha384": 48, "sha512": 64}
ENVELOPE_FORM = {**UNKNOWN_FORM, "version": "dsse without bundle", "content": "dsse"}
LEGACY_FORM = {**UNKNOWN_FORM, "version": "cosign legacy", "content": "message", "time": "log"}


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One signature with its verdict."""

    code: str
    valid: bool | None
    """Whether the signature itself is right; None when nobody knows."""
    form: Mapping[str, Any]
    who: Who | None = None
    signers: tuple[str, ...] = ()
    """Signers of the policy that it may be."""
    policy: str | None = None
    signed: tuple[str, ...] = ()
    """Digests that it is about, verified."""
    statement: Statement | None = None
    log: Mapping[str, Any] | None = None
    time: Mapping[str, Any] | None = None

    @property
    def verified(self) -> bool:
        """Whether it is right and allowed."""
        return self.code == "verified"

    def facts(self) -> dict[str, Any]:
        """As rules see it."""
        return {
            **verdict_facts(self.code),
            "signature_valid": self.valid,
            "form": dict(self.form),
            "identity": self.who.facts() if self.who is not None else None,
            "signers": list(self.signers),
            "policy": self.policy,
            "signed": list(self.signed[:50]),
            "statement": self.statement.facts() if self.statement is not None else None,
            "log": dict(self.log) if self.log is not None else None,
            "time": dict(self.time) if self.time is not None else None,
        }


class Good(msgspec.Struct, frozen=True, kw_only=True):
    """A signature that is right, whoever made it."""

    who: Who
    log: Mapping[str, Any] | None = None
    time: Mapping[str, Any] | None = None


def refused(refusal: RefusedError, *, form: Mapping[str, Any], policy: CompiledPolicy | None) -> Checked:
    """A signature that is not good."""
    return Checked(
        code=refusal.code,
        valid=None if refusal.status is Status.COULD_NOT_CHECK else False,
        form=form,
        policy=policy.settings.name if policy is not None else None,
    )


def is_cosign_legacy(document: object) -> bool:
    """Whether ``cosign sign-blob --bundle`` wrote it before there were bundles."""
    return isinstance(document, Mapping) and "base64Signature" in document


def claimed_form(document: object) -> Mapping[str, Any]:
    """The shape of what may turn out to be no bundle."""
    if isinstance(document, Mapping) and is_cosign_legacy(document):
        return {**LEGACY_FORM, "material": "certificate" if document.get("cert") else "public key"}
    if not isinstance(document, Mapping) or not isinstance(document.get("mediaType"), str):
        return UNKNOWN_FORM
    return {**UNKNOWN_FORM, "media_type": document["mediaType"][:200]}


def signed_content(bundle: Bundle, content: Content | None) -> Content:
    """What a message signature is over, checked against the digest that the bundle states."""
    stated = bundle.message_signature.message_digest if bundle.message_signature is not None else None
    if stated is None:
        if content is None:
            raise RefusedError("no_artifact")
        return content
    name = _DIGEST_NAMES.get(stated.algorithm)
    if name is None or (name != "sha256" and bundle.verification_material.public_key is None):
        raise RefusedError("unsupported_hash")
    if len(stated.digest) != _DIGEST_SIZES[name]:
        raise RefusedError("malformed")
    if content is None:
        return DigestContent({name: stated.digest})
    if content.digest(name) != stated.digest:
        raise RefusedError("digest_mismatch")
    return content


def stated(
    good: Good,
    envelope: Envelope,
    content: Content | None,
    *,
    form: Mapping[str, Any],
    policy: CompiledPolicy | None,
) -> Checked:
    """The verdict on an envelope whose signature is right: now its statement is believed, and judged."""
    statement = statement_of(envelope.payload_type, envelope.payload)
    if content is not None and not statement.is_about(content):
        raise RefusedError("subject_mismatch")
    signed = tuple(
        f"{name}:{value}" for subject in statement.subjects for name, value in subject.digests.items()
    )
    checked = judged(good, form=form, policy=policy, signed=signed, statement=statement)
    wanted = policy.settings.predicate_types if policy is not None else ()
    if checked.verified and wanted and statement.predicate_type not in wanted:
        return msgspec.structs.replace(checked, code="wrong_predicate_type")
    return checked


def judged(
    good: Good,
    *,
    form: Mapping[str, Any],
    policy: CompiledPolicy | None,
    signed: tuple[str, ...],
    statement: Statement | None = None,
) -> Checked:
    """The verdict on a signature that is right: is its signer allowed?"""
    return Checked(
        code=policy.code_of(good.who) if policy is not None else "no_policy",
        valid=True,
        form=form,
        who=good.who,
        signers=policy.signers_of(good.who) if policy is not None else (),
        policy=policy.settings.name if policy is not None else None,
        signed=signed,
        statement=statement,
        log=good.log,
        time=good.time,
    )


def sha256_of(content: Content) -> tuple[str, ...]:
    """What a verified signature is about; nothing where only another digest is known."""
    try:
        return (f"sha256:{content.digest('sha256').hex()}",)
    except RefusedError:
        return ()
