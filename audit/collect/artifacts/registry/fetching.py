"""What it takes to verify one image, out of its registry: manifests, and the small blobs that are attached to it. Never a layer.

What is attached is found in the three ways that are in use: tags made from the digest (cosign), the referrers API of OCI 1.1, and the
tag that stands in for it where a registry does not have it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from audit.collect.artifacts.registry.client import Asking, RegistryClient
from audit.collect.artifacts.registry.failures import RegistryError
from audit.collect.artifacts.registry.references import Reference
from audit.collect.artifacts.registry.transport import Answer
from audit.collect.artifacts.signatures.image_files import MAX_BLOB, ImageFiles
from audit.collect.artifacts.signatures.image_layout import (
    descriptors_of,
    digest_of,
    is_about_signing,
    json_object,
    text_of,
)

MAX_MANIFEST = 4 << 20
MAX_SBOM = 32 << 20
MAX_SIDE = 100
"""Manifests, and blobs, that are attached to one image."""
_MAX_PAGES = 10
_INDEXES = frozenset(
    {
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    }
)
_MANIFESTS = frozenset(
    {
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    }
)
_ACCEPT = ", ".join(sorted(_INDEXES | _MANIFESTS))
_INDEX = "application/vnd.oci.image.index.v1+json"
_SIDE_TAGS = ("sig", "att", "sbom")
_NO_REFERRERS = frozenset({405, 501})
_SBOM = re.compile(
    r"(?:application|text)/(?:vnd\.)?(?:spdx|cyclonedx)(?:\+(?:json|xml))?(?:;.*)?", re.IGNORECASE
)
_MAY_TELL = re.compile(
    r"sigstore|cosign|in-toto|dsse|spdx|cyclonedx|vnd\.oci\.(?:image\.config|empty)", re.IGNORECASE
)
"""Types of referrers whose manifests are looked at; an empty one is, too."""
_NEXT = re.compile(r'<([^<>"\s]{1,4096})>\s*;\s*rel="?next"?')


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be had, so that nobody knows what it says."""

    code: str
    reason: str
    hint: str = ""
    about_sbom: bool = False
    """It hides a bill of materials, and no signature."""


class AttachedSbom(msgspec.Struct, frozen=True, kw_only=True):
    """A bill of materials that lies beside an image."""

    digest: str
    data: bytes


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """One image as its registry has it now."""

    reference: Reference
    digest: str | None
    """Of its manifest; None when there is none that can be used."""
    media_type: str = ""
    files: ImageFiles = ImageFiles(named={}, blobs={}, wrong=frozenset())
    attached: tuple[str, ...] = ()
    """Digests of the manifests that are about it."""
    sboms: tuple[AttachedSbom, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    unknown: tuple[str, ...] = ()
    """Types of what is attached and not understood."""

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(map(len, self.files.blobs.values())) + sum(len(sbom.data) for sbom in self.sboms)


def fetch(reference: Reference, client: RegistryClient) -> Fetched:
    """Everything about one image. What can't be had is a trouble, and never an exception."""
    try:
        with client.image(reference.repository) as asking:
            return _Fetching(reference, asking).done()
    except RegistryError as error:
        return Fetched(reference=reference, digest=reference.digest, troubles=(_trouble(error),))


class _Fetching:
    def __init__(self, reference: Reference, asking: Asking) -> None:
        self._reference = reference
        self._asking = asking
        self._blobs: dict[str, bytes] = {}
        self._wrong: set[str] = set()
        self._unread: dict[str, str] = {}
        self._attached: dict[str, None] = {}
        self._sboms: dict[str, AttachedSbom] = {}
        self._troubles: list[Trouble] = []
        self._unknown: dict[str, None] = {}
        self._count = 0

    def done(self) -> Fetched:
        digest, media_type = self._image()
        if digest in self._blobs:
            for manifest in self._found(digest):
                self._attached[manifest] = None
                self._contents(manifest)
        return Fetched(
            reference=self._reference,
            digest=digest,
            media_type=media_type,
            files=ImageFiles(named={}, blobs=self._blobs, wrong=frozenset(self._wrong), unread=self._unread),
            attached=tuple(self._attached),
            sboms=tuple(self._sboms.values()),
            troubles=tuple(self._troubles),
            unknown=tuple(self._unknown),
        )

    def _image(self) -> tuple[str, str]:
        """Digest and type of the image's manifest.

        Raises:
            RegistryError: there is none that can be used.
        """
        reference = self._reference
        if reference.digest is not None and not reference.digest.startswith("sha256:"):
            raise RegistryError("unsupported_hash", "it is named by a digest that is not SHA-256")
        answer = self._manifest(reference.asked)
        if answer is None:
            raise RegistryError("registry_has_not", "the registry does not have it, or not for everybody")
        found = _sha256(answer.body)
        digest = reference.digest or _claimed(answer) or found
        media_type = _media_type(answer)
        if digest != found:
            _refuse_part(answer)
            self._wrong.add(digest)
            return digest, media_type
        manifest = json_object(answer.body)
        if manifest is None:
            raise RegistryError("not_a_registry", "what answers for the manifest is none")
        if media_type not in _INDEXES | _MANIFESTS:
            raise RegistryError("unsupported_manifest", "its manifest is of a type that is not supported")
        self._blobs[digest] = answer.body
        return digest, media_type

    # ---- what is attached

    def _found(self, digest: str) -> Iterator[str]:
        """Manifests that are about the image, each held already."""
        base = digest.replace(":", "-")
        for suffix in _SIDE_TAGS:
            try:
                answer = self._manifest(f"{base}.{suffix}")
                side = self._kept(answer) if answer is not None else None
            except RegistryError as error:
                trouble = _trouble(error)
                self._troubles.append(msgspec.structs.replace(trouble, about_sbom=suffix == "sbom"))
                continue
            if side is not None:
                yield side
        try:
            referrers = list(self._referrers(digest, base))
        except RegistryError as error:
            self._troubles.append(_trouble(error))
            return
        for descriptor in referrers:
            side = digest_of(descriptor)
            if side is None or side in self._attached:
                continue
            kind = text_of(descriptor.get("artifactType"))
            if kind and not _MAY_TELL.search(kind):
                self._unknown[kind[:200]] = None
                continue
            if not self._one_more():
                return
            if self._have(side, manifest=True):
                yield side
            else:
                self._attached[side] = None

    def _referrers(self, digest: str, tag: str) -> Iterator[Mapping[str, Any]]:
        path: str | None = f"{self._reference.repository}/referrers/{digest}"
        for _ in range(_MAX_PAGES):
            if path is None:
                return
            answer = self._asking.get(path, accept=_INDEX, limit=MAX_MANIFEST, allowed=_NO_REFERRERS)
            if answer.status != 200:
                stand_in = self._manifest(tag)
                if stand_in is not None:
                    yield from descriptors_of(self._index(stand_in))
                return
            yield from descriptors_of(self._index(answer))
            path = _next_page(answer, path)
        raise RegistryError("too_many_signatures", f"more than {_MAX_PAGES} pages are attached to it")

    def _index(self, answer: Answer) -> Mapping[str, Any]:
        document = json_object(answer.body)
        if document is None or not isinstance(document.get("manifests"), list):
            raise RegistryError("not_a_registry", "what answers for the list of referrers is none")
        return document

    def _contents(self, digest: str) -> None:
        """The blobs of an attached manifest that say something."""
        manifest = json_object(self._blobs.get(digest)) or {}
        layers = manifest.get("layers")
        for layer in layers if isinstance(layers, list) else ():
            blob = digest_of(layer) if isinstance(layer, Mapping) else None
            if blob is None:
                continue
            media_type = text_of(layer.get("mediaType"))
            if is_about_signing(media_type):
                if blob not in self._blobs and not self._one_more():
                    return
                self._have(blob)
            elif _SBOM.fullmatch(media_type):
                if blob not in self._sboms and not self._one_more():
                    return
                self._have_sbom(blob)
            elif kind := text_of(manifest.get("artifactType")) or media_type:
                self._unknown[kind[:200]] = None

    def _one_more(self) -> bool:
        self._count += 1
        if self._count == MAX_SIDE + 1:
            self._troubles.append(
                Trouble(code="too_many_signatures", reason=f"more than {MAX_SIDE} things are attached to it")
            )
        return self._count <= MAX_SIDE

    # ---- one at a time

    def _have(self, digest: str, *, manifest: bool = False) -> bool:
        """Hold a blob or manifest by its digest; whether that worked."""
        if digest in self._blobs:
            return True
        try:
            data = self._blob(digest, MAX_MANIFEST if manifest else MAX_BLOB, manifest=manifest)
        except RegistryError as error:
            self._unread[digest] = error.code
            self._troubles.append(_trouble(error))
            return False
        if data is None:
            self._wrong.add(digest)
            return False
        self._blobs[digest] = data
        return True

    def _have_sbom(self, digest: str) -> None:
        if digest in self._sboms:
            return
        trouble = Trouble(
            code="blob_differs",
            reason="a bill of materials does not have the digest that it is named by",
            about_sbom=True,
        )
        try:
            data = self._blob(digest, MAX_SBOM, manifest=False)
        except RegistryError as error:
            trouble, data = msgspec.structs.replace(_trouble(error), about_sbom=True), None
        if data is None:
            self._troubles.append(trouble)
        else:
            self._sboms[digest] = AttachedSbom(digest=digest, data=data)

    def _blob(self, digest: str, limit: int, *, manifest: bool) -> bytes | None:
        """Bytes with this digest; None when others came.

        Raises:
            RegistryError: nothing came that can be used.
        """
        kind = "manifests" if manifest else "blobs"
        accept = _ACCEPT if manifest else "*/*"
        answer = self._asking.get(f"{self._reference.repository}/{kind}/{digest}", accept=accept, limit=limit)
        if answer.status != 200:
            raise RegistryError("registry_has_not", "something that is attached to it is not there")
        if _sha256(answer.body) == digest:
            return answer.body
        _refuse_part(answer)
        return None

    def _manifest(self, asked: str) -> Answer | None:
        """A manifest by tag or digest; None when there is none."""
        answer = self._asking.get(
            f"{self._reference.repository}/manifests/{asked}", accept=_ACCEPT, limit=MAX_MANIFEST
        )
        return answer if answer.status == 200 else None

    def _kept(self, answer: Answer) -> str | None:
        """The digest of a manifest that was asked for by tag; None when it is none."""
        digest = _sha256(answer.body)
        if (_claimed(answer) or digest) != digest:
            _refuse_part(answer)
            self._troubles.append(
                Trouble(
                    code="blob_differs", reason="what is attached does not have the digest that is stated"
                )
            )
            return None
        if json_object(answer.body) is None:
            self._troubles.append(
                Trouble(code="not_a_registry", reason="what answers for a manifest is none")
            )
            return None
        self._blobs[digest] = answer.body
        return digest


def _refuse_part(answer: Answer) -> None:
    """Bytes that are not those that were wanted may be the beginning of these: then nothing is wrong, and nothing is known."""
    if not answer.whole:
        raise RegistryError(
            "registry_unreachable", "the connection broke off, or the end of the answer is not stated"
        )


def _trouble(error: RegistryError) -> Trouble:
    return Trouble(code=error.code, reason=error.reason, hint=error.hint)


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _claimed(answer: Answer) -> str | None:
    """The digest that the registry states, where it is one that can be compared."""
    return digest_of({"digest": answer.headers.get("Docker-Content-Digest")})


def _media_type(answer: Answer) -> str:
    """What the manifest says it is; the header where it says nothing."""
    document = json_object(answer.body) or {}
    stated = text_of(document.get("mediaType"))
    return stated or answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _next_page(answer: Answer, path: str) -> str | None:
    """Where the list goes on; only on the same registry."""
    found = _NEXT.search(answer.headers.get("Link", ""))
    if found is None:
        return None
    following = found[1]
    if following.startswith("/") and not following.startswith("//"):
        return following
    if following.startswith("?"):
        return path.partition("?")[0] + following
    raise RegistryError("registry_leads_away", "its list of referrers goes on at another place")
