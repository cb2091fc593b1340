"""Reads image layouts and archives: one `ImageSignatures` for each image, and `Provenance` where it is attached."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.reading import Artifact, Facts
from audit.collect.artifacts.signatures.bundle_shape import (
    UNKNOWN_FORM,
    bundle_of,
    envelope_of,
    is_envelope,
    parse_json,
)
from audit.collect.artifacts.signatures.bundles import provenance_spec
from audit.collect.artifacts.signatures.contents import BytesContent, DigestContent
from audit.collect.artifacts.signatures.desk import MAX_SIGNATURES, Desk, combined
from audit.collect.artifacts.signatures.image_files import ImageFiles, image_files, looks_like_image
from audit.collect.artifacts.signatures.image_layout import (
    BUNDLE_TYPE,
    SIGNATURE,
    SIMPLE_SIGNING,
    Image,
    SideLayer,
    layout_of,
)
from audit.collect.artifacts.signatures.judging import Checked, refused
from audit.collect.artifacts.signatures.signers import CompiledPolicy
from audit.collect.artifacts.signatures.statements import statement_of
from audit.collect.artifacts.signatures.verdicts import RefusedError, verdict_facts

COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1"
_CERTIFICATE = "dev.sigstore.cosign/certificate"
_PROMISE = "dev.sigstore.cosign/bundle"
_CERTIFIED = {"material": "certificate", "time": "log"}
_SIMPLE_FORM: dict[str, Any] = {
    **UNKNOWN_FORM,
    "version": "cosign simplesigning",
    "material": "public key",
    "content": "message",
}
_ENVELOPE_FORM: dict[str, Any] = {**UNKNOWN_FORM, "version": "cosign envelope", "content": "dsse"}


class ImageReader:
    """OCI layouts as folders or archives, ``cosign save`` and ``docker save``.

    Args:
        desk: what the readers of signatures share.
    """

    name = "image layout"
    suffixes = frozenset({".tar", ".tar.gz", ".tgz"})
    kinds = frozenset({"ImageSignatures", "Provenance"})
    shares = False

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._judge = ImageJudge(desk)

    def recognises(self, artifact: Artifact) -> bool:
        """Whether it is laid out as images are."""
        return looks_like_image(artifact.path, artifact.head)

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """A fact for every image."""
        files = image_files(artifact.path)
        layout = layout_of(files)
        for number, image in enumerate(layout.images):
            labels = (artifact.label, artifact.label.removesuffix("/index.json"))
            policy = self._desk.policies.of(labels) or self._desk.policies.of(image.names)
            layers = [layer for layer in layout.layers if image.digest is not None and _about(layer, image)]
            name = f"{artifact.label}#{image.digest or image.image_id or number}"
            yield from self._judge.facts(image, layers, files, policy, name=name)


class ImageJudge:
    """Says what is known of an image, wherever it comes from: a folder, an archive or a registry.

    Args:
        desk: what the readers of signatures share.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def policy_of(self, names: Iterable[str]) -> CompiledPolicy | None:
        """Who may sign an image with these names; None when nobody has said anything about it."""
        return self._desk.policies.of(names)

    def facts(
        self,
        image: Image,
        layers: Sequence[SideLayer],
        files: ImageFiles,
        policy: CompiledPolicy | None,
        *,
        name: str,
        trouble: str | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> Iterator[Facts]:
        """`ImageSignatures`, and `Provenance` for each that is attached.

        Args:
            image: which one.
            layers: what is attached to it.
            files: what was read of it.
            policy: who may have signed it.
            name: of the facts.
            trouble: code of why not everything that is attached was seen; then nothing is unsigned, and nothing is wrong because
                enough signatures are missing.
            origin: what else is known of where it comes from.
        """
        checks = [(layer, self._check(layer, image, policy)) for layer in layers[:MAX_SIGNATURES]]
        spec = self._spec(image, checks, policy, too_many=len(layers) > MAX_SIGNATURES, trouble=trouble)
        if image.digest in files.wrong:
            spec |= verdict_facts("blob_differs")
        elif image.digest is not None and image.digest not in files.blobs:
            spec |= verdict_facts(trouble or "no_manifest_digest")
        yield Facts(kind="ImageSignatures", name=name, spec={**spec, **(origin or {})})
        for index, (_, check) in enumerate(checks):
            stated = provenance_spec(check, check.code, policy, subjects=[image.digest or ""])
            if stated is not None:
                yield Facts(kind="Provenance", name=f"{name}#{index + 1}", spec=stated)

    def _spec(
        self,
        image: Image,
        checks: list[tuple[SideLayer, Checked]],
        policy: CompiledPolicy | None,
        *,
        too_many: bool,
        trouble: str | None,
    ) -> dict[str, Any]:
        signatures = [(layer, check) for layer, check in checks if _counts(layer, check, policy)]
        code = combined([check for _, check in signatures], policy)
        if too_many:
            code = "too_many_signatures"
        elif trouble is not None and code != "verified":
            code = trouble
        elif image.digest is None:
            code = "no_manifest_digest"
        certified = any(str(check.form["material"]).startswith("certificate") for _, check in checks)
        return {
            **verdict_facts(code),
            "digest": image.digest,
            "image_id": image.image_id,
            "media_type": image.media_type,
            "names": list(image.names),
            "platforms": list(image.platforms),
            "required": policy is not None and policy.settings.required,
            "policy": policy.settings.name if policy is not None else None,
            "signatures": [_listed(layer, check) for layer, check in signatures],
            "attestations": [
                _listed(layer, check) for layer, check in checks if not _counts(layer, check, policy)
            ],
            "root": self._desk.root.facts() if certified else None,
        }

    def _check(self, layer: SideLayer, image: Image, policy: CompiledPolicy | None) -> Checked:
        form = _SIMPLE_FORM if layer.media_type == SIMPLE_SIGNING else _ENVELOPE_FORM
        if layer.data is None:
            return refused(RefusedError(layer.missing), form=form, policy=policy)
        content = DigestContent({"sha256": bytes.fromhex((image.digest or "").removeprefix("sha256:"))})
        if layer.media_type.startswith(BUNDLE_TYPE):
            return _for_image(self._desk.checker.bundle(layer.data, content, policy))
        if layer.media_type != SIMPLE_SIGNING:
            return _for_image(self._envelope(layer, layer.data, content, policy))
        checked = self._simple(layer, layer.data, policy)
        if checked.valid and _signed_digest(layer.data) != image.digest:
            return refused(RefusedError("image_mismatch"), form=form, policy=policy)
        if checked.valid:
            return msgspec.structs.replace(checked, signed=(image.digest or "",))
        return checked

    def _envelope(
        self, layer: SideLayer, data: bytes, content: DigestContent, policy: CompiledPolicy | None
    ) -> Checked:
        if _CERTIFICATE not in layer.annotations:
            return self._desk.checker.bundle(data, content, policy)
        return self._desk.checker.promised_envelope(
            data,
            content,
            certificate=layer.annotations[_CERTIFICATE],
            promise=layer.annotations.get(_PROMISE),
            policy=policy,
            form={**_ENVELOPE_FORM, **_CERTIFIED},
        )

    def _simple(self, layer: SideLayer, data: bytes, policy: CompiledPolicy | None) -> Checked:
        try:
            signature = base64.b64decode(layer.annotations.get(SIGNATURE, ""), validate=True)
        except (binascii.Error, ValueError):
            return refused(RefusedError("malformed"), form=_SIMPLE_FORM, policy=policy)
        if _CERTIFICATE not in layer.annotations:
            return self._desk.checker.detached(signature, BytesContent(data), policy, form=_SIMPLE_FORM)
        return self._desk.checker.promised(
            data,
            signature,
            certificate=layer.annotations[_CERTIFICATE],
            promise=layer.annotations.get(_PROMISE),
            policy=policy,
            form={**_SIMPLE_FORM, **_CERTIFIED},
        )


def _about(layer: SideLayer, image: Image) -> bool:
    """Whether something is attached to the image; where nothing else says it, its own content does."""
    if layer.image is not None:
        return layer.image == image.digest
    if layer.data is None:
        return True
    return _signed_digest(layer.data) == image.digest


def _signed_digest(payload: bytes) -> str | None:
    """The digest that a simple signing payload is about."""
    try:
        critical = parse_json(payload)["critical"]
        if critical["type"] != "cosign container image signature":
            return None
        found = critical["image"]["docker-manifest-digest"]
    except (RefusedError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _for_image(checked: Checked) -> Checked:
    if checked.code in ("digest_mismatch", "subject_mismatch"):
        return msgspec.structs.replace(checked, code="image_mismatch")
    return checked


def _counts(layer: SideLayer, check: Checked, policy: CompiledPolicy | None) -> bool:
    """Whether it signs the image. Other statements are about the image, and say nothing of who released it."""
    stated = check.statement.predicate_type if check.statement is not None else _claimed(layer.data)
    if stated is None:
        return True
    wanted = policy.settings.predicate_types if policy is not None else ()
    return stated in (wanted or (COSIGN_SIGN,))


def _claimed(data: bytes | None) -> str | None:
    """The type of the statement in a signature that is not believed; it decides only where the signature is listed."""
    try:
        document = parse_json(data or b"")
        envelope = envelope_of(document) if is_envelope(document) else bundle_of(document).dsse_envelope
        if envelope is None:
            return None
        return statement_of(envelope.payload_type, envelope.payload).predicate_type
    except RefusedError:
        return None


def _listed(layer: SideLayer, check: Checked) -> Mapping[str, Any]:
    return {**check.facts(), "manifest": layer.manifest, "layer": layer.digest}
