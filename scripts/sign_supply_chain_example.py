#!/usr/bin/env python3
"""Makes the images, weights and signatures of examples/supply-chain, with an authority and logs of its own.

What is not signed comes out byte for byte the same each time (``--unsigned FOLDER`` writes only that). Signatures can't:
every run makes new keys, and forgets them when it ends, so that nobody can sign in the example's name afterwards. So run
it only when something that is signed has changed, and commit all of what it writes: a root of one run trusts nothing of
another.
"""

from __future__ import annotations

import argparse
import datetime as dt
import io
import json
import pickle
import re
import struct
import sys
import tarfile
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.signatures.image_builder import BUNDLE, OCI_CONFIG, OCI_MANIFEST, LayoutBuilder, statement  # noqa: E402
from tests.signatures.sigstore_chain import Chain, sha256  # noqa: E402

EXAMPLE = ROOT / "examples" / "supply-chain"
RELEASED = dt.datetime(2026, 11, 27, 9, 30, tzinfo=dt.UTC)
"""When everything was signed: three days before the moment that the configurations judge at."""
OCI_LAYER = "application/vnd.oci.image.layer.v1.tar"
GITHUB = "https://token.actions.githubusercontent.com"
RELEASE = "https://github.com/example-org/larkspur/.github/workflows/release.yml@refs/tags/v1.4.0"
BUILDER = "https://github.com/example-org/builders/.github/workflows/container.yml@refs/tags/v2.1.0"
FORK = "https://github.com/somebody-else/larkspur/.github/workflows/release.yml@refs/tags/v1.4.0"
OWNER, OWNER_ISSUER = "mara.lind@example.com", "https://accounts.example.com"
SOURCE = "https://github.com/example-org/larkspur"
WORKFLOW = "https://actions.github.io/buildtypes/workflow/v1"
PROVENANCE = "https://slsa.dev/provenance/v1"
LIST = "https://model_signing/signature/v1.0"


class Image(NamedTuple):
    """An image of the example: its name, and the program that it holds."""

    folder: str
    program: str
    remark: str = ""
    """Makes the content of an image of the twin another one."""


IMAGES = (
    Image("service/images/server", "server.py"),
    Image("service/images/gateway", "gateway.py"),
    Image("broken/images/unsigned", "server.py", "unsigned"),
    Image("broken/images/wrong-identity", "server.py", "wrong-identity"),
    Image("broken/images/invalid", "server.py", "invalid"),
    Image("broken/images/other-image", "server.py", "other-image"),
)


class Released:
    """One folder with everything that is released.

    Args:
        root: of the example.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, data: bytes) -> None:
        """A file, with its folders."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    # ---- what is not signed

    def unsigned(self) -> None:
        """Images without their signatures, weights, archives: the same bytes whoever makes them."""
        for image in IMAGES:
            builder, _ = image_of(image)
            for name, data in builder.files().items():
                self.write(f"{image.folder}/{name}", data)
        self.write("broken/images/could-not-check.tar", archive_of_docker())
        for model in ("service/models/manual-1b", "broken/models/changed", "broken/models/unsigned"):
            self.write(f"{model}/model.safetensors", weights())
        self.write("broken/models/calls-out/pytorch_model.bin", pickle_that_calls_out())
        self.write("broken/models/calls-out/model.safetensors", weights(gap=8))
        source = {f"larkspur-1.4.0/{name}": _program(name) for name in ("gateway.py", "server.py")}
        self.write("service/release/larkspur-1.4.0.tar", tar_of(source))
        for name in ("changed", "expired", "unsigned", "built-elsewhere", "other-source"):
            self.write(f"broken/release/{name}-1.4.0.tar", tar_of({**source, "REMARK": name.encode()}))

    # ---- what is

    def signed(self, chain: Chain) -> None:
        """Every signature, and the root that they rest on."""
        root = _json(chain.trusted_root())
        self.write("trust/trusted_root.json", root)
        policy = self._read("trust.yaml")
        self.write(
            "trust.yaml",
            re.sub(rb"(?m)^  sha256: [0-9a-f]{64}$", b"  sha256: " + sha256(root).hex().encode(), policy),
        )
        for folder in ("service/images/server", "service/images/gateway"):
            self._image(folder, lambda about: _good(chain, about))
        self._image(
            "broken/images/wrong-identity", lambda about: [release(chain, statement(about), subject=FORK)]
        )
        self._image("broken/images/invalid", lambda about: [spoilt(release(chain, statement(about)))])
        other = f"sha256:{sha256(b'another image').hex()}"
        self._image("broken/images/other-image", lambda _: [release(chain, statement(other))])
        self._models(chain)
        self._documents(chain)
        self._archives(chain)

    def _image(self, folder: str, bundles: Any) -> None:
        [image] = [one for one in IMAGES if one.folder == folder]
        builder, about = image_of(image)
        size = len(builder.blobs[about])
        for bundle in bundles(about):
            manifest = {
                "schemaVersion": 2,
                "mediaType": OCI_MANIFEST,
                "artifactType": BUNDLE,
                "config": builder.json({}, "application/vnd.oci.empty.v1+json"),
                "layers": [builder.json(bundle, BUNDLE)],
                "subject": {"mediaType": OCI_MANIFEST, "digest": about, "size": size},
            }
            builder.json(manifest, OCI_MANIFEST)
        for name, data in builder.files().items():
            self.write(f"{folder}/{name}", data)

    def _models(self, chain: Chain) -> None:
        """Signed lists (OpenSSF Model Signing). The weights of ``changed`` change after that."""
        for folder in ("service/models/manual-1b", "broken/models/changed"):
            files = {path.name: path.read_bytes() for path in sorted((self.root / folder).iterdir())}
            files.pop("model.sig", None)
            bundle = chain.bundle(
                list_of(files, folder.rpartition("/")[2]),
                statement=True,
                subject=OWNER,
                issuer=OWNER_ISSUER,
            )
            self.write(f"{folder}/model.sig", _json(bundle))
        self.write("broken/models/changed/model.safetensors", weights(last=1))

    def _documents(self, chain: Chain) -> None:
        """Bills of materials and VEX. The broken ones are signed too: a signature makes nothing true."""
        for folder in ("service/sboms", "service/evidence", "broken/sboms", "broken/evidence"):
            for path in sorted((self.root / folder).glob("*.json")):
                wanted = path.name.endswith((".spdx.json", ".cdx.json", ".openvex.json"))
                if wanted and path.name != "unsigned.spdx.json":
                    self._beside(f"{folder}/{path.name}", release(chain, path.read_bytes(), statement=False))

    def _archives(self, chain: Chain) -> None:
        for name in (
            "service/release/larkspur-1.4.0.tar",
            "broken/release/changed-1.4.0.tar",
            "broken/release/built-elsewhere-1.4.0.tar",
            "broken/release/other-source-1.4.0.tar",
        ):
            self._beside(name, release(chain, self._read(name), statement=False))
        late = "broken/release/expired-1.4.0.tar"
        # A certificate lives ten minutes; the log took this one in the next day.
        self._beside(late, release(chain, self._read(late), statement=False, log_delay=86400))
        self.write(
            "broken/release/changed-1.4.0.tar", self._read("broken/release/changed-1.4.0.tar") + bytes(512)
        )
        for name, facts in (
            ("service/release/larkspur-1.4.0.tar", {}),
            ("broken/release/built-elsewhere-1.4.0.tar", {"builder": "https://ci.example.net/somebody"}),
            (
                "broken/release/other-source-1.4.0.tar",
                {"source": "https://github.com/somebody-else/larkspur", "debug": "true"},
            ),
        ):
            bundle = built(chain, provenance(self._subject(name), **facts))
            self.write(f"{name}.intoto.jsonl", json.dumps(bundle).encode() + b"\n")

    def _subject(self, name: str) -> dict[str, Any]:
        return {"name": name.rpartition("/")[2], "digest": {"sha256": sha256(self._read(name)).hex()}}

    def _beside(self, name: str, bundle: Mapping[str, Any]) -> None:
        self.write(f"{name}.sigstore.json", _json(bundle))

    def _read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()


# ---- signers


def release(chain: Chain, data: bytes, *, statement: bool = True, **how: Any) -> dict[str, Any]:
    """A bundle by the release workflow, or by whom ``subject`` names."""
    return chain.bundle(data, statement=statement, **{"subject": RELEASE, "issuer": GITHUB, **how})


def built(chain: Chain, data: bytes) -> dict[str, Any]:
    """A statement by the builder."""
    return chain.bundle(data, statement=True, subject=BUILDER, issuer=GITHUB)


def _good(chain: Chain, about: str) -> Iterator[dict[str, Any]]:
    algorithm, _, digest = about.partition(":")
    yield release(chain, statement(about))
    yield built(chain, provenance({"name": "image", "digest": {algorithm: digest}}))


def spoilt(bundle: dict[str, Any]) -> dict[str, Any]:
    """With one bit of the signature another one."""
    signature = bundle["dsseEnvelope"]["signatures"][0]
    first = signature["sig"][20]
    signature["sig"] = signature["sig"][:20] + ("B" if first != "B" else "C") + signature["sig"][21:]
    return bundle


# ---- contents


def image_of(image: Image) -> tuple[LayoutBuilder, str]:
    """A layout with one image of one layer, not compressed so that it is the same everywhere, and its digest."""
    builder = LayoutBuilder()
    files = {"app/main.py": _program(image.program)}
    if image.remark:
        files["app/REMARK"] = image.remark.encode()
    layer = tar_of(files)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Cmd": ["python3", "/app/main.py"], "User": "10001"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer).hex()}"]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "config": builder.json(config, OCI_CONFIG),
        "layers": [builder.blob(layer, OCI_LAYER)],
    }
    descriptor = builder.json(manifest, OCI_MANIFEST)
    name = f"registry.example.internal/larkspur/{image.folder.rpartition('/')[2]}:1.4.0"
    builder.index.append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": name}})
    return builder, str(descriptor["digest"])


def archive_of_docker() -> bytes:
    """What an old ``docker save`` wrote: without the manifest that signatures speak of."""
    layer = tar_of({"app/main.py": _program("server.py")})
    config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers"}}).encode()
    name = sha256(config).hex()
    tags = ["registry.example.internal/larkspur/could-not-check:1.4.0"]
    listed = [{"Config": f"{name}.json", "RepoTags": tags, "Layers": ["layer/layer.tar"]}]
    return tar_of(
        {"manifest.json": json.dumps(listed).encode(), f"{name}.json": config, "layer/layer.tar": layer}
    )


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """An archive with nothing in it that depends on where or when it is made."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o644
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def weights(*, last: int = 0, gap: int = 0) -> bytes:
    """A safetensors file of two small tensors; ``gap`` bytes that no tensor owns make its header wrong."""
    header = {
        "__metadata__": {"format": "pt", "license": "apache-2.0"},
        "head.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "head.bias": {"dtype": "F32", "shape": [2], "data_offsets": [16 + gap, 24 + gap]},
    }
    data = json.dumps(header).encode()
    data += b" " * (-len(data) % 8)
    return struct.pack("<Q", len(data)) + data + bytes(23 + gap) + bytes([last])


def pickle_that_calls_out() -> bytes:
    """Whoever loads it opens a web page. Harmless, and no less a call than any other."""

    class Call:
        def __reduce__(self) -> tuple[Any, ...]:
            return webbrowser.open, ("https://example.com/loaded",)

    return pickle.dumps({"head.weight": Call()}, protocol=2)


def list_of(files: Mapping[str, bytes], name: str) -> bytes:
    """What the model signing library signs: each file with its digest, and a digest over these."""
    resources = [
        {"name": one, "algorithm": "sha256", "digest": sha256(data).hex()}
        for one, data in sorted(files.items())
    ]
    whole = sha256(b"".join(bytes.fromhex(one["digest"]) for one in resources)).hex()
    settings = {"method": "files", "hash_type": "sha256", "allow_symlinks": False}
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": name, "digest": {"sha256": whole}}],
            "predicateType": LIST,
            "predicate": {"serialization": settings, "resources": resources},
        }
    ).encode()


def provenance(
    subject: Mapping[str, Any], *, builder: str = BUILDER, source: str = SOURCE, **external: str
) -> bytes:
    """SLSA provenance as GitHub's builders write it."""
    workflow = {"repository": source, "ref": "refs/tags/v1.4.0", "path": ".github/workflows/release.yml"}
    commit = {"uri": f"git+{source}@refs/tags/v1.4.0", "digest": {"gitCommit": "4f1d2c" * 6 + "4f1d"}}
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [subject],
            "predicateType": PROVENANCE,
            "predicate": {
                "buildDefinition": {
                    "buildType": WORKFLOW,
                    "externalParameters": {"workflow": workflow, **external},
                    "resolvedDependencies": [commit],
                },
                "runDetails": {"builder": {"id": builder}},
            },
        }
    ).encode()


def _program(name: str) -> bytes:
    return (EXAMPLE / "source" / name).read_bytes()


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


def main() -> int:
    """Write; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--unsigned", metavar="FOLDER", type=Path, help="write only what is not signed, there"
    )
    asked = parser.parse_args()
    if asked.unsigned is not None:
        Released(asked.unsigned).unsigned()
        return 0
    for path in EXAMPLE.glob("*/images/*/blobs/sha256/*"):
        path.unlink()
    released = Released(EXAMPLE)
    released.unsigned()
    released.signed(Chain(RELEASED, name="example authority"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
