"""Checks one signature of any form, and says what is known of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from audit.collect.artifacts.signatures.certificate_chain import refuse_roots
from audit.collect.artifacts.signatures.certificate_signature import Signed, verify
from audit.collect.artifacts.signatures.contents import BytesContent, Content
from audit.collect.artifacts.signatures.cosign_legacy import certificate_of, entry_of, parts_of
from audit.collect.artifacts.signatures.entry_bodies import key_in_entry
from audit.collect.artifacts.signatures.judging import (
    ENVELOPE_FORM,
    Checked,
    Good,
    claimed_form,
    is_cosign_legacy,
    judged,
    refused,
    sha256_of,
    signed_content,
    stated,
)
from audit.collect.artifacts.signatures.log_entries import Logged, check_entry
from audit.collect.artifacts.signatures.public_keys import KeyRing, NamedKey
from audit.collect.artifacts.signatures.second_opinion import Library, supports
from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.signers import CompiledPolicy, Who
from audit.collect.artifacts.signatures.trust_root import RootSource
from audit.collect.artifacts.signatures.verdicts import RefusedError


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
        self._confirming: Library | None = None

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
            if is_cosign_legacy(document):
                return self._cosign_legacy(document, content, policy, form=form)
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
            return judged(good, form=form, policy=policy, signed=sha256_of(content))
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
            return stated(good, envelope, content, form=form, policy=policy)
        message = bundle.message_signature
        if message is None:
            raise RefusedError("malformed")
        signed = signed_content(bundle, content)
        digest = None if bundle.verification_material.public_key else signed.digest("sha256")
        good = self._good(bundle, raw, signed, message.signature, digest=digest)
        return judged(good, form=form, policy=policy, signed=sha256_of(signed))

    def _good(
        self, bundle: Bundle, raw: bytes, signed: Content, signature: bytes, *, digest: bytes | None
    ) -> Good:
        if bundle.verification_material.public_key is not None:
            if len(bundle.entries) > 1:
                raise RefusedError("entry_count")
            entry = bundle.entries[0] if bundle.entries else None
            return self._keyed(signature, signed, entry=entry, envelope=bundle.dsse_envelope)
        if len(bundle.entries) != 1:
            raise RefusedError("entry_count" if bundle.entries else "no_log_entry")
        refuse_roots(bundle.other_certificates)
        good = self._certified(
            Signed(
                certificate=bundle.certificate or b"",
                signature=signature,
                content=signed,
                entry=bundle.entries[0],
                envelope=bundle.dsse_envelope,
                stamps=tuple(one.signed_timestamp for one in bundle.timestamps),
                proof_needed=bundle.version != "0.1",
            )
        )
        if supports(bundle):
            self._library().confirm(raw, digest)
        return good

    def _certified(self, signed: Signed) -> Good:
        verified = verify(signed, self._root.load().root, now=self._now)
        who = Who(
            subject=verified.identity.subject,
            issuer=verified.identity.issuer,
            claims=verified.identity.claims,
            key=verified.key,
            logged=True,
        )
        at = max(verified.times).isoformat()
        return Good(who=who, log=verified.logged.facts(), time={"source": verified.time_source, "at": at})

    def _library(self) -> Library:
        if self._confirming is None:
            self._confirming = Library(self._root.load().raw)
        return self._confirming

    # ---- what cosign wrote before there were bundles

    def promised(
        self,
        signed: bytes,
        signature: bytes,
        *,
        certificate: object,
        promise: object,
        policy: CompiledPolicy | None,
        form: Mapping[str, Any],
    ) -> Checked:
        """A signature with a certificate and the promise of the log, as annotations of an image hold it."""
        content = BytesContent(signed)
        try:
            good = self._promised(content, signature, certificate_of(certificate), promise)
            return judged(good, form=form, policy=policy, signed=sha256_of(content))
        except RefusedError as refusal:
            return refused(refusal, form=form, policy=policy)

    def promised_envelope(
        self,
        raw: bytes,
        content: Content,
        *,
        certificate: object,
        promise: object,
        policy: CompiledPolicy | None,
        form: Mapping[str, Any],
    ) -> Checked:
        """The same for an envelope."""
        try:
            envelope = envelope_of(parse_json(raw))
            signed, signature = BytesContent(envelope.signed_bytes), envelope.signatures[0].sig
            good = self._promised(signed, signature, certificate_of(certificate), promise, envelope=envelope)
            return stated(good, envelope, content, form=form, policy=policy)
        except RefusedError as refusal:
            return refused(refusal, form=form, policy=policy)

    def _promised(
        self,
        content: Content,
        signature: bytes,
        certificate: bytes,
        promise: object,
        *,
        envelope: Envelope | None = None,
    ) -> Good:
        entry = entry_of(parse_json(promise.encode()) if isinstance(promise, str) else promise)
        return self._certified(
            Signed(
                certificate=certificate,
                signature=signature,
                content=content,
                entry=entry,
                envelope=envelope,
                proof_needed=False,
            )
        )

    def _cosign_legacy(
        self,
        document: Mapping[str, Any],
        content: Content | None,
        policy: CompiledPolicy | None,
        *,
        form: Mapping[str, Any],
    ) -> Checked:
        if content is None:
            raise RefusedError("no_artifact")
        signature, certificate, entry = parts_of(document)
        if certificate is None:
            good = self._keyed(signature, content, entry=entry, proof_needed=False)
        elif entry is None:
            raise RefusedError("no_log_entry")
        else:
            good = self._promised(content, signature, certificate, document["rekorBundle"])
        return judged(good, form=form, policy=policy, signed=sha256_of(content))

    def _envelope(
        self,
        envelope: Envelope,
        content: Content | None,
        policy: CompiledPolicy | None,
        *,
        form: Mapping[str, Any],
    ) -> Checked:
        signed = BytesContent(envelope.signed_bytes)
        good = self._keyed(envelope.signatures[0].sig, signed, entry=None)
        return stated(good, envelope, content, form=form, policy=policy)

    # ---- keys

    def _keyed(
        self,
        signature: bytes,
        content: Content,
        *,
        entry: LogEntry | None,
        envelope: Envelope | None = None,
        beside: NamedKey | None = None,
        proof_needed: bool = True,
    ) -> Good:
        logged_key: NamedKey | None = None
        logged: Logged | None = None
        if entry is not None:
            root = self._root.load().root
            logged = check_entry(entry, root, now=self._now, proof_needed=proof_needed)
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
        return Good(
            who=who,
            log=logged.facts() if logged is not None else None,
            time={"source": "log", "at": at} if at else None,
        )
