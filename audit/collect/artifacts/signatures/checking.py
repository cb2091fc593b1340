"""Checks one signature of any form, and says what is known of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.artifacts.signatures import public_keys
from audit.collect.artifacts.signatures.bundle_shape import (
    UNKNOWN_FORM,
    Bundle,
    Envelope,
    LogEntry,
    bundle_of,
    envelope_of,
    is_envelope,
    parse_json,
)
from audit.collect.artifacts.signatures.certificate_signature import CertificateVerifier
from audit.collect.artifacts.signatures.contents import BytesContent, Content, DigestContent
from audit.collect.artifacts.signatures.log_entries import Logged, check_entry
from audit.collect.artifacts.signatures.logged_keys import key_in_entry
from audit.collect.artifacts.signatures.public_keys import KeyRing, NamedKey
from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.signers import CompiledPolicy, Who
from audit.collect.artifacts.signatures.statements import Statement, statement_of
from audit.collect.artifacts.signatures.trust_root import RootSource
from audit.collect.artifacts.signatures.verdicts import RefusedError, Status, verdict_facts

_DIGEST_NAMES = {"SHA2_256": "sha256", "SHA2_384": "sha384", "SHA2_512": "sha512"}
_DIGEST_SIZES = {"sha256": 32, "sha384": 48, "sha512": 64}


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


class _Good(msgspec.Struct, frozen=True, kw_only=True):
    """A signature that is right, whoever made it."""

    who: Who
    log: Mapping[str, Any] | None = None
    time: Mapping[str, Any] | None = None


class Checker:
    """Checks signatures with one configuration.

    Args:
        settings: whom to trust; None when nothing is configured.
        base: folder that relative paths begin at.
        now: the moment of judging.
        root: the trusted root.
    """

    def __init__(
        self, settings: SignatureSettings | None, *, base: Path, now: dt.datetime, root: RootSource
    ) -> None:
        self._keys = KeyRing(settings.keys if settings is not None else (), base=base)
        self._now = now
        self._root = root
        self._certificates: CertificateVerifier | None = None

    def bundle(self, raw: bytes, content: Content | None, policy: CompiledPolicy | None) -> Checked:
        """A bundle, an envelope without one, or the form that cosign wrote before there were bundles.

        Args:
            raw: the document.
            content: what it should be about; None when that is not at hand.
            policy: who may have signed it.
        """
        form: Mapping[str, Any] = UNKNOWN_FORM
        try:
            document = parse_json(raw)
            if is_envelope(document):
                form = ENVELOPE_FORM
                return self._envelope(envelope_of(document), content, policy, form=form)
            form = claimed_form(document)
            bundle = bundle_of(document)
            form = bundle.form()
            return self._bundle(bundle, raw, content, policy)
        except RefusedError as refusal:
            return refused(refusal, form=form, policy=policy)

    def detached(
        self,
        signature: bytes,
        content: Content,
        policy: CompiledPolicy | None,
        *,
        beside: NamedKey | None = None,
        form: Mapping[str, Any],
    ) -> Checked:
        """A bare signature made with a key.

        Args:
            signature: the signature.
            content: what it is over.
            policy: who may have made it.
            beside: a key that lies beside it and proves nothing but that a signature is right.
            form: what it looks like.
        """
        try:
            good = self._keyed(signature, content, entry=None, beside=beside)
            return _judged(good, form=form, policy=policy, signed=_sha256(content))
        except RefusedError as refusal:
            return refused(refusal, form=form, policy=policy)

    # ---- bundles

    def _bundle(
        self, bundle: Bundle, raw: bytes, content: Content | None, policy: CompiledPolicy | None
    ) -> Checked:
        form = bundle.form()
        if bundle.dsse_envelope is not None:
            envelope = bundle.dsse_envelope
            signed: Content = BytesContent(envelope.signed_bytes)
            good = self._good(bundle, raw, signed, envelope.signatures[0].sig, digest=None)
            return _stated(good, envelope, content, form=form, policy=policy)
        message = bundle.message_signature
        if message is None:
            raise RefusedError("malformed")
        signed = _signed_content(bundle, content)
        digest = None if bundle.verification_material.public_key else signed.digest("sha256")
        good = self._good(bundle, raw, signed, message.signature, digest=digest)
        return _judged(good, form=form, policy=policy, signed=_sha256(signed))

    def _good(
        self, bundle: Bundle, raw: bytes, signed: Content, signature: bytes, *, digest: bytes | None
    ) -> _Good:
        if bundle.verification_material.public_key is not None:
            if len(bundle.entries) > 1:
                raise RefusedError("entry_count")
            entry = bundle.entries[0] if bundle.entries else None
            return self._keyed(signature, signed, entry=entry, envelope=bundle.dsse_envelope)
        verified = self._verifier().verify(bundle, raw, digest)
        who = Who(
            subject=verified.identity.subject,
            issuer=verified.identity.issuer,
            claims=verified.identity.claims,
            key=verified.key,
            logged=True,
        )
        at = max(verified.times).isoformat()
        return _Good(who=who, log=verified.logged.facts(), time={"source": verified.time_source, "at": at})

    def _verifier(self) -> CertificateVerifier:
        if self._certificates is None:
            self._certificates = CertificateVerifier(self._root.load(), now=self._now)
        return self._certificates

    def _envelope(
        self,
        envelope: Envelope,
        content: Content | None,
        policy: CompiledPolicy | None,
        *,
        form: Mapping[str, Any],
    ) -> Checked:
        if len(envelope.signatures) != 1:
            raise RefusedError("signature_count")
        signed = BytesContent(envelope.signed_bytes)
        good = self._keyed(envelope.signatures[0].sig, signed, entry=None)
        return _stated(good, envelope, content, form=form, policy=policy)

    # ---- keys

    def _keyed(
        self,
        signature: bytes,
        content: Content,
        *,
        entry: LogEntry | None,
        envelope: Envelope | None = None,
        beside: NamedKey | None = None,
    ) -> _Good:
        logged_key: NamedKey | None = None
        logged: Logged | None = None
        if entry is not None:
            logged = check_entry(entry, self._root.load().root, now=self._now)
            logged_key = key_in_entry(entry, signature, content, envelope)
        try:
            ring = self._keys.keys()
        except RefusedError:
            if beside is None and logged_key is None:
                raise
            ring = ()
        makers = [key for key in ring if public_keys.verifies(key, signature, content)]
        if not makers:
            # Not one of ours. Whether it is right at all is known only where the key is at hand.
            strangers = [key for key in (logged_key, beside) if key is not None]
            makers = [key for key in strangers if public_keys.verifies(key, signature, content)][:1]
        if not makers:
            raise RefusedError("no_configured_key_verifies")
        if logged_key is not None and logged_key.facts != makers[0].facts:
            raise RefusedError("log_entry_differs")
        who = Who(
            key_names=tuple(key.name for key in makers if key.name),
            key=makers[0].facts,
            logged=logged is not None,
        )
        at = logged.integrated.isoformat() if logged is not None and logged.integrated else None
        return _Good(
            who=who,
            log=logged.facts() if logged is not None else None,
            time={"source": "log", "at": at} if at else None,
        )


ENVELOPE_FORM = {**UNKNOWN_FORM, "version": "dsse without bundle", "content": "dsse"}
LEGACY_FORM = {**UNKNOWN_FORM, "version": "cosign legacy", "content": "message", "time": "log"}


def refused(refusal: RefusedError, *, form: Mapping[str, Any], policy: CompiledPolicy | None) -> Checked:
    """A signature that is not good."""
    return Checked(
        code=refusal.code,
        valid=None if refusal.status is Status.COULD_NOT_CHECK else False,
        form=form,
        policy=policy.settings.name if policy is not None else None,
    )


def claimed_form(document: object) -> Mapping[str, Any]:
    """The shape of what may turn out to be no bundle."""
    if isinstance(document, Mapping) and "base64Signature" in document:
        return {**LEGACY_FORM, "material": "certificate" if document.get("cert") else "public key"}
    if not isinstance(document, Mapping) or not isinstance(document.get("mediaType"), str):
        return UNKNOWN_FORM
    return {**UNKNOWN_FORM, "media_type": document["mediaType"][:200]}


def _signed_content(bundle: Bundle, content: Content | None) -> Content:
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


def _stated(
    good: _Good,
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
    checked = _judged(good, form=form, policy=policy, signed=signed, statement=statement)
    wanted = policy.settings.predicate_types if policy is not None else ()
    if checked.verified and wanted and statement.predicate_type not in wanted:
        return msgspec.structs.replace(checked, code="wrong_predicate_type")
    return checked


def _judged(
    good: _Good,
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


def _sha256(content: Content) -> tuple[str, ...]:
    try:
        return (f"sha256:{content.digest('sha256').hex()}",)
    except RefusedError:
        return ()
