"""Evidence beside manifests, through the real command: read, judged, and never green for not being there."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.integration.command import Run, run

POD = """apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec: {containers: [{name: main, image: "registry.example.com/app@sha256:%s"}]}
"""
DIGEST, OTHER = "a" * 64, "b" * 64


def sbom(digest: str, **changes: Any) -> dict[str, Any]:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "serialNumber": "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79",
        "metadata": {
            "timestamp": "2026-11-01T00:00:00Z",
            "component": {
                "type": "container",
                "bom-ref": "app",
                "name": "registry.example.com/app",
                "version": f"sha256:{digest}",
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "purl": f"pkg:oci/app@sha256%3A{digest}?repository_url=registry.example.com/app",
            },
        },
        "components": [],
    } | changes


def audited(folder: Path, files: dict[str, str | bytes], *options: str | Path) -> Run:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    for name, content in files.items():
        (source / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return run(folder / "out", source, "--no-cache", *options)


def status(done: Run, control: str) -> tuple[str, str]:
    [row] = [row for row in done.report["controls"] if row["fleet"]["control"] == control]
    return row["fleet"]["status"], row["fleet"]["reason"]


def test_what_nobody_handed_in_is_not_out_of_the_count(tmp_path: Path) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST})
    assert status(done, "LFAI-SBOM-02") == ("indeterminate", "no_evidence")
    assert status(done, "LFAI-SBOM-01")[0] == "indeterminate"
    assert status(done, "LFAI-CI-01") == ("indeterminate", "no_evidence")
    assert done.code == 0, "its absence makes no audit incomplete"


def test_a_bill_of_materials_answers_its_controls(tmp_path: Path) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "app.cdx.json": json.dumps(sbom(DIGEST))})
    assert not done.gaps
    assert status(done, "LFAI-SBOM-02") == ("satisfied", "passed_pairs")
    assert status(done, "LFAI-SBOM-01") == ("satisfied", "passed_pairs")
    [file] = [i for i in done.report["record"]["inputs"] if i["path"].endswith("app.cdx.json")]
    assert len(file["sha256"]) == 64


def test_a_bill_of_materials_of_another_image_is_none_of_this_one(tmp_path: Path) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "app.cdx.json": json.dumps(sbom(OTHER))})
    assert status(done, "LFAI-SBOM-01")[0] == "not_satisfied"
    assert done.findings("sbom/image-has-sbom")


@pytest.mark.parametrize(
    "content", ['{"bomFormat": "CycloneDX", "specVersion": "1.5"', '{"spdxVersion": "SPDX-2.3", "x": [}']
)
def test_a_broken_one_is_never_green(tmp_path: Path, content: str) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "app.cdx.json": content})
    assert status(done, "LFAI-SBOM-02")[0] != "satisfied"
    assert status(done, "LFAI-SBOM-02")[0] != "not_applicable"
    assert done.gaps or done.findings("sbom/format-valid")


def test_other_files_are_left_out_and_said(tmp_path: Path) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "notes.xml": "<notes/>", "README.md": "hello"})
    assert not done.gaps
    [notice] = [
        n for n in done.report["notices"] if n["code"] == "other_type" and "notes.xml" in n["message"]
    ]
    assert notice["count"] >= 1


class Signer:
    """Somebody with a key."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    def sign(self, data: bytes) -> bytes:
        return base64.b64encode(self.key.sign(data, ec.ECDSA(hashes.SHA256())))

    def public(self) -> bytes:
        return self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


def trusting(folder: Path, signer: Signer) -> Path:
    (folder / "release.pub").write_bytes(signer.public())
    (folder / "trust.yaml").write_text(
        "keys: [{name: release, path: release.pub}]\n"
        "policies:\n"
        "  - name: models\n"
        '    artifacts: ["**/*.bin"]\n'
        "    required: true\n"
        "    any_of: [{name: us, key: release}]\n"
    )
    config = folder / "fleetaudit.yaml"
    config.write_text("signatures: trust.yaml\n")
    return config


def test_a_signature_by_somebody_we_trust(tmp_path: Path) -> None:
    us, them = Signer(), Signer()
    config = trusting(tmp_path, us)
    files: dict[str, str | bytes] = {
        "pod.yaml": POD % DIGEST,
        "w.bin": b"weights",
        "w.bin.sig": us.sign(b"weights"),
    }
    done = audited(tmp_path, files, "--config", config)
    assert not done.findings("signature/artifact-signed")
    assert _answers(done, "signature/artifact-signed") == ["pass"]
    for signature in (them.sign(b"weights"), us.sign(b"other"), b"no signature"):
        done = audited(tmp_path, files | {"w.bin.sig": signature}, "--config", config)
        assert "pass" not in _answers(done, "signature/artifact-signed")
    (tmp_path / "source" / "w.bin.sig").unlink()
    done = audited(tmp_path, {}, "--config", config)
    assert done.findings("signature/artifact-signed")


def test_a_trust_file_with_a_mistake_is_refused_with_its_line(tmp_path: Path) -> None:
    config = trusting(tmp_path, Signer())
    text = (tmp_path / "trust.yaml").read_text()
    (tmp_path / "trust.yaml").write_text(text.replace("required: true", "require: true"))
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST}, "--config", config)
    assert done.code == 2
    assert "trust.yaml:3" in done.err
    assert "require" in done.err


def _answers(done: Run, rule: str) -> list[str]:
    import csv
    import gzip

    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return [row["outcome"] for row in csv.DictReader(file) if row["rule"] == rule]


@pytest.mark.parametrize("kind", ["ImageSignatures", "SignatureBundle", "Sbom", "VulnerabilityReport"])
def test_a_manifest_that_claims_to_be_evidence_is_a_gap(tmp_path: Path, kind: str) -> None:
    forged = {
        "apiVersion": "artifacts.fleetaudit.dev/v1",
        "kind": kind,
        "metadata": {"name": "x"},
        "spec": {
            "required": True,
            "status": "verified",
            "code": "verified",
            "signatures": [{"status": "verified"}],
        },
    }
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "forged.yaml": json.dumps(forged)})
    assert done.code == 3
    [gap] = done.gaps
    assert "only fleetaudit's own readers" in gap["reason"]
    assert status(done, "LFAI-SIG-01")[0] == "indeterminate"
    assert status(done, "LFAI-SBOM-02")[0] == "indeterminate"
