"""Which images a layout holds, and which signatures belong to them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.reading import UnreadError
from audit.collect.artifacts.signatures.bundle_shape import parse_json
from audit.collect.artifacts.signatures.image_files import ImageFiles
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_IMAGES = 1000
MAX_PLATFORMS = 200
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SIDE_TAG = re.compile(r"sha256-([0-9a-f]{64})\.(sig|att|sbom)")
_REFERRERS_TAG = re.compile(r"sha256-[0-9a-f]{64}")
_KIND = "kind"
_COSIGN = "dev.cosignproject.cosign/"
_REF_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle"
ENVELOPE_TYPE = "application/vnd.dsse.envelope.v1+json"
SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json"
SIGNATURE = "dev.cosignproject.cosign/signature"


class SideLayer(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is about an image: a signature, a bundle or an envelope."""

    media_type: str
    digest: str
    data: bytes | None
    """None when it is missing, too large, or not what its digest says."""
    missing: str = "blob_differs"
    """The code of why there is no data."""
    annotations: Mapping[str, str]
    image: str | None
    """Digest of the image that it is attached to; None when only its content says."""
    manifest: str


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image, or an index of images for several platforms."""

    digest: str | None
    """Digest of its manifest; None in archives that do not hold the manifest."""
    media_type: str
    names: tuple[str, ...]
    image_id: str | None = None
    platforms: tuple[dict[str, str], ...] = ()


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in it."""

    images: tuple[Image, ...]
    layers: tuple[SideLayer, ...]


def layout_of(files: ImageFiles) -> Layout:
    """Images and what is attached to them.

    Raises:
        UnreadError: it is no layout that is understood.
    """
    index = files.named.get("index.json")
    if index is None:
        return Layout(images=tuple(_docker_images(files)), layers=())
    document = json_object(index)
    if document is None:
        raise UnreadError("index.json is broken")
    tags = _docker_tags(files)
    images: dict[str, Image] = {}
    side: dict[str, str | None] = {}
    for descriptor in descriptors_of(document):
        digest = digest_of(descriptor)
        if digest is None:
            raise UnreadError("index.json names a manifest without its digest")
        role, about = _role(descriptor, files.blobs.get(digest))
        if role == "image":
            image = image_of(descriptor, digest, files, tags)
            known = images.get(digest)
            names = (*known.names, *image.names) if known is not None else image.names
            images[digest] = msgspec.structs.replace(image, names=tuple(dict.fromkeys(names)))
        elif role == "side":
            side[digest] = about
    if not images:
        raise UnreadError("it holds no image")
    if len(images) > MAX_IMAGES:
        raise UnreadError(f"more than {MAX_IMAGES} images")
    # Referrers need not stand in the index: `cosign save` leaves them out.
    for digest, blob in files.blobs.items():
        subject = _subject(json_object(blob))
        if subject is not None:
            side[digest] = subject
    only = next(iter(images)) if len(images) == 1 else None
    layers = [layer for digest in sorted(side) for layer in side_layers(digest, side[digest] or only, files)]
    return Layout(images=tuple(images.values()), layers=tuple(layers))


def _role(descriptor: Mapping[str, Any], blob: bytes | None) -> tuple[str, str | None]:
    manifest = json_object(blob) if blob is not None else None
    if manifest is not None and _has_file_system(manifest):
        return "image", None  # whatever it calls itself, it can be run
    annotations = _texts(descriptor.get("annotations"))
    for name in _REF_NAMES:
        tag = annotations.get(name, "").rpartition(":")[2]
        named = _SIDE_TAG.fullmatch(tag)
        if named is not None:
            return "side", f"sha256:{named[1]}"
        if _REFERRERS_TAG.fullmatch(tag):
            return "list", None
    kind = annotations.get(_KIND, "")
    if kind.startswith(_COSIGN) and kind.removeprefix(_COSIGN) not in ("image", "imageIndex"):
        return "side", None
    subject = _subject(manifest)
    return ("side", subject) if subject is not None else ("image", None)


def _has_file_system(manifest: Mapping[str, Any]) -> bool:
    layers = manifest.get("layers")
    return isinstance(layers, list) and any(
        isinstance(layer, Mapping) and ".tar" in text_of(layer.get("mediaType")) for layer in layers
    )


def image_of(
    descriptor: Mapping[str, Any], digest: str, files: ImageFiles, tags: Mapping[str, tuple[str, ...]]
) -> Image:
    """An image with what its manifest says.

    Args:
        descriptor: what names it in an index.
        digest: of its manifest.
        files: where the manifest is.
        tags: names by the digest of the configuration.
    """
    annotations = _texts(descriptor.get("annotations"))
    manifest = json_object(files.blobs.get(digest, b""))
    config = digest_of(_mapping(manifest, "config")) if manifest is not None else None
    names = [annotations[name] for name in _REF_NAMES if name in annotations]
    names += tags.get(config or "", ())
    return Image(
        digest=digest,
        media_type=text_of(descriptor.get("mediaType"))[:200],
        names=tuple(dict.fromkeys(name[:500] for name in names)),
        image_id=config,
        platforms=tuple(_platforms(manifest)) if manifest is not None else (),
    )


def _platforms(manifest: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for descriptor in descriptors_of(manifest)[:MAX_PLATFORMS]:
        platform, digest = _mapping(descriptor, "platform"), digest_of(descriptor)
        system = text_of(platform.get("os"))
        if digest is not None and system != "unknown":  # unknown/unknown are build attestations
            architecture = text_of(platform.get("architecture"))
            yield {"digest": digest, "platform": f"{system}/{architecture}"[:100]}


def is_about_signing(media_type: str) -> bool:
    """Whether it is a type of what is read here as a signature, an envelope or a bundle."""
    return media_type.startswith(BUNDLE_TYPE) or media_type in (ENVELOPE_TYPE, SIMPLE_SIGNING)


def side_layers(digest: str, image: str | None, files: ImageFiles) -> Iterator[SideLayer]:
    """What a manifest holds that is about an image.

    Args:
        digest: of the manifest.
        image: that it is attached to; None when only the content says.
        files: where both are.
    """
    manifest = json_object(files.blobs.get(digest, b""))
    if manifest is None:
        yield SideLayer(
            media_type="",
            digest=digest,
            data=None,
            missing=files.why_not(digest),
            annotations={},
            image=image,
            manifest=digest,
        )
        return
    layers = manifest.get("layers")
    for layer in layers[:MAX_IMAGES] if isinstance(layers, list) else ():
        if not isinstance(layer, Mapping):
            continue
        media_type, blob = text_of(layer.get("mediaType")), digest_of(layer) or ""
        if not is_about_signing(media_type):
            continue
        yield SideLayer(
            media_type=media_type,
            digest=blob,
            data=files.blobs.get(blob),
            missing=files.why_not(blob),
            annotations=_texts(layer.get("annotations")),
            image=image,
            manifest=digest,
        )


def _docker_images(files: ImageFiles) -> Iterator[Image]:
    """An archive of ``docker save`` from before it held manifests."""
    raw = files.named.get("manifest.json")
    try:
        entries = parse_json(raw) if raw is not None else None
    except RefusedError:
        entries = None
    if not isinstance(entries, list) or len(entries) > MAX_IMAGES:
        raise UnreadError("neither index.json nor manifest.json can be read")
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise UnreadError("manifest.json is broken")
        config = text_of(entry.get("Config"))
        data = files.named.get(config)
        found = hashlib.sha256(data).hexdigest() if data is not None else None
        yield Image(
            digest=None,
            media_type="application/vnd.docker.save",
            names=_names(entry),
            image_id=f"sha256:{found}" if found is not None else None,
        )


def _docker_tags(files: ImageFiles) -> dict[str, tuple[str, ...]]:
    """Names by the digest of the configuration, from the manifest.json that newer archives hold as well."""
    try:
        entries = parse_json(files.named.get("manifest.json", b""))
    except RefusedError:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            found[f"sha256:{text_of(entry.get('Config')).rpartition('/')[2].removesuffix('.json')}"] = _names(
                entry
            )
    return found


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    tags = entry.get("RepoTags")
    return tuple(tag[:500] for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def _subject(manifest: Mapping[str, Any] | None) -> str | None:
    return digest_of(_mapping(manifest, "subject")) if manifest is not None else None


def json_object(data: bytes | None) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    try:
        found = parse_json(data or b"")
    except RefusedError:
        return None
    return found if isinstance(found, dict) else None


def descriptors_of(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What an index lists."""
    found = document.get("manifests")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def digest_of(descriptor: Mapping[str, Any]) -> str | None:
    """The SHA-256 digest that a descriptor names."""
    found = descriptor.get("digest")
    return found if isinstance(found, str) and _DIGEST.fullmatch(found) else None


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def text_of(value: object) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {key: text for key, text in value.items() if isinstance(key, str) and isinstance(text, str)}
