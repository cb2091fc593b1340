"""Models beside manifests, through the real command: read, judged, tied to what is served, and never green for not being there."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

from tests.integration.command import Run, run
from tests.signatures.image_builder import keyed_bundle, keyed_envelope
from tests.signatures.signing import Signing, ecdsa
from tests.unit.model.model_files import Calls, safetensors, torch_archive
from tests.unit.model.test_folders import LABEL
from tests.unit.signatures.test_models import statement

CARD = """---
license: apache-2.0
---
# Chat

## Intended use
Answers questions about the manual of the product for people who work in support, and nothing else at all.

## Limitations
It was never tested in other languages, and it does not know anything that happened after its training.

## Training data
The manual, and tickets without names.

## Evaluation
Ninety of a hundred questions were answered as the people in support would have answered them.
"""
FILES: dict[str, bytes] = {
    "config.json": json.dumps({"model_type": "llama", **LABEL}).encode(),
    "model.safetensors": safetensors(),
    "README.md": CARD.encode(),
}
SERVER = """apiVersion: v1
kind: Pod
metadata:
  name: chat
  namespace: ml
  annotations: {fleetaudit.dev/model-digest: "%s"}
spec: {containers: [{name: main, image: "vllm/vllm-openai:v1", args: ["--model=/models/chat"]}]}
"""


def digest_of(files: dict[str, bytes]) -> str:
    return str(json.loads(statement(files))["subject"][0]["digest"]["sha256"])


def audited(folder: Path, files: dict[str, bytes], *options: str | Path) -> Run:
    source = folder / "source"
    for name, content in {"chat.yaml": (SERVER % f"sha256:{digest_of(FILES)}").encode(), **files}.items():
        (source / name).parent.mkdir(exist_ok=True, parents=True)
        (source / name).write_bytes(content)
    return run(folder / "out", source, "--no-cache", *options)


def model(**changes: bytes) -> dict[str, bytes]:
    return {f"models/chat/{name}": data for name, data in {**FILES, **changes}.items()}


def signed(folder: Path, key: Signing, files: dict[str, bytes]) -> tuple[Path, bytes]:
    (folder / "release.pub").write_bytes(key.pem)
    (folder / "trust.yaml").write_text(
        "keys: [{name: release, path: release.pub}]\n"
        'policies: [{name: models, artifacts: ["**"], any_of: [{name: us, key: release}]}]\n'
    )
    config = folder / "fleetaudit.yaml"
    config.write_text("signatures: trust.yaml\n")
    return config, json.dumps(keyed_bundle(envelope=keyed_envelope(statement(files), key))).encode()


def answers(done: Run, rule: str) -> list[str]:
    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return [row["outcome"] for row in csv.DictReader(file) if row["rule"] == rule]


def status(done: Run, control: str) -> tuple[str, str]:
    [row] = [row for row in done.report["controls"] if row["fleet"]["control"] == control]
    return row["fleet"]["status"], row["fleet"]["reason"]


ASKED = (
    *("model/weights-format-safe", "model/licence-stated", "model/card-present", "model/card-complete"),
    *(
        "model/custom-code-absent",
        "model/weights-complete",
        "model/asset-label-valid",
        "model/served-digest-known",
    ),
)


def test_a_model_that_is_as_it_should_be(tmp_path: Path) -> None:
    config, bundle = signed(tmp_path, ecdsa(), FILES)
    done = audited(tmp_path, {**model(), "models/chat/model.sig": bundle}, "--config", config)
    assert not done.gaps
    for rule in (*ASKED, "model/signature-present", "signature/model-signed"):
        assert set(answers(done, rule)) == {"pass"}, rule
    assert status(done, "LFAI-SIG-02") == ("satisfied", "passed_pairs")
    [weights] = [one for one in done.report["record"]["inputs"] if one["path"].endswith("model.safetensors")]
    assert weights["sha256"] == hashlib.sha256(FILES["model.safetensors"]).hexdigest()
    assert any(one["path"].endswith("README.md") for one in done.report["record"]["inputs"])


def test_no_model_is_no_evidence(tmp_path: Path) -> None:
    done = audited(tmp_path, {})
    for control in ("LFAI-SIG-02", "LFAI-MOF-03"):
        assert status(done, control) == ("indeterminate", "no_evidence")
    assert set(answers(done, "model/served-digest-known")) <= {"skip"}


def test_a_changed_model_is_none_that_was_signed_or_served(tmp_path: Path) -> None:
    config, bundle = signed(tmp_path, ecdsa(), FILES)
    files = {**model(**{"extra.py": b"x"}), "models/chat/model.sig": bundle}
    done = audited(tmp_path, files, "--config", config)
    [difference] = done.findings("signature/model-signed")
    assert "extra.py" in json.dumps(difference)
    assert done.findings("model/signature-present")
    assert done.findings("model/served-digest-known"), "what is on disk is not what is served"
    assert status(done, "LFAI-SIG-02")[0] == "not_satisfied"


def test_a_served_model_that_nobody_handed_in(tmp_path: Path) -> None:
    done = audited(tmp_path, model(**{"README.md": CARD.replace("Chat", "Talk").encode()}))
    [finding] = done.findings("model/served-digest-known")
    assert finding["place"]["file"].endswith("chat.yaml")


def test_a_hostile_model(tmp_path: Path) -> None:
    evil = pickle.dumps(Calls(os.system, f"touch {tmp_path / 'ran'}"))
    files = {
        "models/chat/pytorch_model.bin": torch_archive(evil),
        "models/chat/optimizer.safetensors": torch_archive(evil),
        "models/chat/state.pt": b"7z\xbc\xaf\x27\x1c not an archive that is known",
        "models/chat/model.onnx": b"\x08\x07",
        "models/chat/config.json": json.dumps({"model_type": "x", "auto_map": {"AutoModel": "m.M"}}).encode(),
        "notes/data.json": b"\x80\x04cos\nsystem\n.",
    }
    done = audited(tmp_path, files)
    said = json.dumps(done.findings("model/pickle-imports-allowed"))
    for name in ("pytorch_model.bin", "optimizer.safetensors", "state.pt", "data.json"):
        assert name in said, name
    assert "posix.system" in json.dumps(done.report["groups"])
    assert not (tmp_path / "ran").exists()
    formats = answers(done, "model/weights-format-safe")
    assert "pass" not in formats
    assert "error" in formats, "ONNX is not examined"
    assert done.findings("model/custom-code-absent")
    assert done.findings("model/card-present")
    assert done.findings("model/licence-stated")
    assert status(done, "LFAI-MOF-03")[0] == "not_satisfied"
    assert done.code != 0


def test_a_model_that_cannot_be_read_is_a_gap_of_all_its_facts(tmp_path: Path) -> None:
    done = audited(tmp_path, {"models/empty.safetensors": b""})
    [gap] = done.gaps
    assert "artifacts.fleetaudit.dev/ModelFile" in gap["kinds"]
    assert status(done, "LFAI-MOF-03")[0] == "indeterminate"
    assert done.code == 3


def test_a_manifest_that_claims_to_be_a_model_is_a_gap(tmp_path: Path) -> None:
    forged: dict[str, Any] = {
        "apiVersion": "artifacts.fleetaudit.dev/v1",
        "kind": "Model",
        "metadata": {"name": "x"},
        "spec": {"licence": {"status": "stated", "names": [{"name": "mit"}]}},
    }
    done = audited(tmp_path, {"forged.yaml": json.dumps(forged).encode()})
    assert done.code == 3
    assert answers(done, "model/licence-stated") == []
