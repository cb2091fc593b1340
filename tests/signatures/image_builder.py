"""Image layouts as cosign, docker and buildx write them, made from scratch."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from tests.signatures.signing import Signing
from tests.signatures.sigstore_chain import IN_TOTO, b64, pae, sha256

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
OCI_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
SIMPLE = "application/vnd.dev.cosign.simplesigning.v1+json"
DSSE = "application/vnd.dsse.envelope.v1+json"
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1"


class LayoutBuilder:
    """Blobs by digest, and the index."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.index: list[dict[str, Any]] = []

    def blob(self, data: bytes, media_type: str) -> dict[str, Any]:
        digest = f"sha256:{sha256(data).hex()}"
        self.blobs[digest] = data
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    def json(self, value: Any, media_type: str) -> dict[str, Any]:
        return self.blob(json.dumps(value).encode(), media_type)

    def image(self, text: str = "app", *, name: str | None = None, listed: bool = True) -> str:
        config = self.json({"os": "linux", "architecture": "amd64", "config": {"Cmd": [text]}}, OCI_CONFIG)
        layer = self.blob(gzip.compress(text.encode(), mtime=0), OCI_LAYER)
        manifest = {"schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [layer]}
        descriptor = self.json(manifest, OCI_MANIFEST)
        annotations = {"kind": "dev.cosignproject.cosign/image"}
        if name is not None:
            annotations["org.opencontainers.image.ref.name"] = name
        if listed:
            self.index.append({**descriptor, "annotations": annotations})
        return str(descriptor["digest"])

    def side(self, layers: list[dict[str, Any]], *, subject: str | None = None) -> dict[str, Any]:
        manifest: dict[str, Any] = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": self.json({}, "application/vnd.oci.empty.v1+json"),
            "layers": layers,
        }
        if subject is not None:
            manifest["artifactType"] = BUNDLE
            manifest["subject"] = {"mediaType": OCI_MANIFEST, "digest": subject, "size": 1}
        return self.json(manifest, OCI_MANIFEST)

    def simple_signature(
        self,
        about: str,
        signing: Signing,
        *,
        attached_to: str | None = None,
        payload: Any = None,
        annotations: dict[str, str] | None = None,
    ) -> None:
        """What ``cosign sign`` wrote before version 3."""
        content = payload or {
            "critical": {
                "identity": {"docker-reference": "registry.test/app"},
                "image": {"docker-manifest-digest": about},
                "type": "cosign container image signature",
            },
            "optional": None,
        }
        data = json.dumps(content).encode()
        layer = self.blob(data, SIMPLE)
        layer["annotations"] = {
            "dev.cosignproject.cosign/signature": b64(signing.sign(data)),
            **(annotations or {}),
        }
        descriptor = self.side([layer])
        marks = {"kind": "dev.cosignproject.cosign/sigs"}
        if attached_to is not None:
            marks["org.opencontainers.image.ref.name"] = attached_to.replace(":", "-") + ".sig"
        self.index.append({**descriptor, "annotations": marks})

    def referrer(self, about: str, bundle: dict[str, Any], *, listed: bool = False) -> None:
        """What ``cosign sign`` writes since version 3; ``cosign save`` leaves it out of the index."""
        descriptor = self.side([self.json(bundle, BUNDLE)], subject=about)
        if listed:
            self.index.append(descriptor)

    # ---- as a folder or an archive

    def files(self) -> dict[str, bytes]:
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": self.index}
        return {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": json.dumps(index).encode(),
            **{f"blobs/{digest.replace(':', '/')}": data for digest, data in self.blobs.items()},
        }

    def write(self, folder: Path) -> Path:
        for name, data in self.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder

    def archive(self, path: Path, *, packed: bool = False) -> Path:
        return write_tar(path, self.files(), packed=packed)


def write_tar(path: Path, files: dict[str, bytes], *, packed: bool = False) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz" if packed else "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path.write_bytes(buffer.getvalue())
    return path


def statement(about: str, predicate_type: str = COSIGN_SIGN, predicate: Any = None) -> bytes:
    algorithm, _, digest = about.partition(":")
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "app", "digest": {algorithm: digest}}],
            "predicateType": predicate_type,
            "predicate": predicate or {},
        }
    ).encode()


def keyed_envelope(payload: bytes, signing: Signing, payload_type: str = IN_TOTO) -> dict[str, Any]:
    signature = signing.sign(pae(payload_type, payload))
    return {"payload": b64(payload), "payloadType": payload_type, "signatures": [{"sig": b64(signature)}]}


def keyed_bundle(
    *,
    envelope: dict[str, Any] | None = None,
    data: bytes | None = None,
    signing: Signing | None = None,
    entries: list[Any] | None = None,
) -> dict[str, Any]:
    """What ``cosign --key`` writes."""
    content: dict[str, Any] = {"dsseEnvelope": envelope}
    if data is not None and signing is not None:
        content = {
            "messageSignature": {
                "messageDigest": {"algorithm": "SHA2_256", "digest": b64(sha256(data))},
                "signature": b64(signing.sign(data)),
            }
        }
    material: dict[str, Any] = {"publicKey": {"hint": "aGludA=="}}
    if entries is not None:
        material["tlogEntries"] = entries
    return {"mediaType": BUNDLE, "verificationMaterial": material, **content}
