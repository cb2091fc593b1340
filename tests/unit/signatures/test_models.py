"""Signed models: the folder must hold what was signed, no more and no less."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared_dir
from tests.signatures.image_builder import keyed_bundle, keyed_envelope
from tests.signatures.signing import ecdsa
from tests.signatures.workbench import OURS, Workbench

PERSON = {
    "name": "person",
    "issuer": "https://sigstore.verify.ibm.com/oauth2",
    "subject": "stefanb@us.ibm.com",
}
FILES = {"config.json": b"{}", "weights/a.safetensors": b"aaaa", "weights/b.safetensors": b"bbbb"}


def statement(
    files: dict[str, bytes], *, root: str | None = None, name: str = "llama", **serialization: Any
) -> bytes:
    """What the model signing library writes."""
    resources = [
        {"name": one, "algorithm": "sha256", "digest": hashlib.sha256(data).hexdigest()}
        for one, data in sorted(files.items())
    ]
    whole = hashlib.sha256(b"".join(bytes.fromhex(one["digest"]) for one in resources)).hexdigest()
    settings = {"method": "files", "hash_type": "sha256", "allow_symlinks": False, **serialization}
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": name, "digest": {"sha256": root or whole}}],
            "predicateType": "https://model_signing/signature/v1.0",
            "predicate": {"serialization": settings, "resources": resources},
        }
    ).encode()


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.config["policies"] = [OURS]
    for name, data in FILES.items():
        bench.put(f"llama/{name}", data)
    sign(bench)
    return bench


def sign(bench: Workbench, payload: bytes | None = None, at: str = "llama/model.sig") -> None:
    bench.put(at, bench.chain.bundle(payload or statement(FILES), statement=True))


def model(bench: Workbench, at: str = "llama/model.sig") -> dict[str, Any]:
    return bench.spec(at, kind="SignedModel")


def listed(spec: dict[str, Any]) -> dict[str, list[str]]:
    found = {name: one["listed"] for name, one in spec["differences"].items() if name != "ignored"}
    return {name: names for name, names in found.items() if names}


def test_a_folder_that_holds_what_was_signed(bench: Workbench) -> None:
    spec = model(bench)
    assert (spec["status"], spec["files"], listed(spec)) == ("verified", 3, {})
    assert spec["identity"]["issuer"] == OURS["any_of"][0]["issuer"]
    assert bench.spec("llama/model.sig")["code"] == "verified"


def test_a_signature_beside_the_folder(bench: Workbench) -> None:
    (bench.folder / "llama/model.sig").rename(bench.folder / "llama.sig")
    assert model(bench, "llama.sig")["status"] == "verified"


Change = Callable[[Path], object]
CHANGES: dict[str, tuple[Change, dict[str, list[str]]]] = {
    "a file changed": (
        lambda root: (root / "weights/a.safetensors").write_bytes(b"evil"),
        {"changed": ["weights/a.safetensors"]},
    ),
    "a file missing": (lambda root: (root / "config.json").unlink(), {"missing": ["config.json"]}),
    "a file too many": (lambda root: (root / "run.py").write_text("x"), {"unsigned": ["run.py"]}),
    "a file in .git": (
        lambda root: [(root / ".git").mkdir(), (root / ".git/hook").write_text("x")],
        {"unsigned": [".git/hook"]},
    ),
    "a link to a file": (
        lambda root: (root / "link").symlink_to(root / "config.json"),
        {"links": ["link"]},
    ),
    "a link out of the folder": (lambda root: (root / "out").symlink_to("/etc"), {"links": ["out"]}),
    "a file swapped for a link": (
        lambda root: [(root / "config.json").unlink(), (root / "config.json").symlink_to("/etc/hostname")],
        {"missing": ["config.json"], "links": ["config.json"]},
    ),
    "a renamed file": (
        lambda root: (root / "config.json").rename(root / "Config.json"),
        {"missing": ["config.json"], "unsigned": ["Config.json"]},
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_every_difference_is_seen(bench: Workbench, case: str) -> None:
    change, expected = CHANGES[case]
    change(bench.folder / "llama")
    spec = model(bench)
    assert (spec["status"], spec["code"], listed(spec)) == ("invalid", "model_differs", expected)


def test_a_difference_counts_for_a_stranger_too(bench: Workbench) -> None:
    bench.put(
        "llama/model.sig", bench.chain.bundle(statement(FILES), statement=True, subject="eve@evil.test")
    )
    assert model(bench)["code"] == "identity_not_allowed"
    bench.put("llama/run.py", b"x")
    assert model(bench)["code"] == "model_differs"


def test_what_the_signer_left_out_is_counted(bench: Workbench) -> None:
    sign(bench, statement(FILES, ignore_paths=[".git", "notes"]))
    bench.put("llama/.git/config", b"x")
    bench.put("llama/notes/a/b", b"x")
    spec = model(bench)
    assert (spec["status"], spec["differences"]["ignored"]) == ("verified", 2)
    bench.put("llama/.gitignore", b"x")
    assert listed(model(bench)) == {"unsigned": [".gitignore"]}


def test_code_where_the_signer_looked_away_is_named(bench: Workbench) -> None:
    sign(bench, statement(FILES, ignore_paths=[".git"]))
    bench.put("llama/.git/config", b"x")
    bench.put("llama/.git/evil.py", b"x")
    bench.put("llama/.git/w.safetensors", b"x")
    spec = model(bench)
    assert spec["status"] == "verified"
    assert listed(spec) == {"loadable": [".git/evil.py", ".git/w.safetensors"]}


@pytest.mark.parametrize("algorithm", ["blake2b", "blake3"])
def test_lists_in_other_digests(bench: Workbench, algorithm: str) -> None:
    def digest(data: bytes) -> str:
        if algorithm == "blake2b":
            return hashlib.blake2b(data).hexdigest()
        return str(pytest.importorskip("blake3").blake3(data).hexdigest())

    resources = [
        {"name": one, "algorithm": algorithm, "digest": digest(data)} for one, data in sorted(FILES.items())
    ]
    whole = hashlib.sha256(b"".join(bytes.fromhex(one["digest"]) for one in resources)).hexdigest()
    document = json.loads(statement(FILES, root=whole))
    document["predicate"]["resources"] = resources
    sign(bench, json.dumps(document).encode())
    assert (model(bench)["status"], model(bench)["digest"]) == ("verified", f"sha256:{whole}")
    bench.put("llama/config.json", b"{ }")
    assert listed(model(bench)) == {"changed": ["config.json"]}


def test_where_a_signed_model_lies(bench: Workbench) -> None:
    assert (model(bench)["folder"], model(bench)["file"]) == ("llama", None)
    (bench.folder / "llama/model.sig").rename(bench.folder / "llama.sig")
    assert (model(bench, "llama.sig")["folder"], model(bench, "llama.sig")["file"]) == ("llama", None)
    bench.put("a/tiny.bin", b"tiny")
    sign(bench, statement({".": b"tiny"}, name="tiny.bin"), "a/tiny.bin.sig")
    found = model(bench, "a/tiny.bin.sig")
    assert (found["folder"], found["file"]) == ("a", "tiny.bin")


def test_links_that_the_signer_allows_stay_inside(bench: Workbench) -> None:
    sign(bench, statement({**FILES, "link": b"{}", "out": b"x"}, allow_symlinks=True))
    (bench.folder / "llama/link").symlink_to("config.json")
    (bench.folder / "llama/out").symlink_to(bench.folder / "outside")
    bench.put("outside", b"x")
    assert listed(model(bench)) == {"links": ["out"], "missing": ["out"]}


def test_a_model_of_one_file(bench: Workbench) -> None:
    bench.put("tiny.bin", b"tiny")
    sign(bench, statement({".": b"tiny"}, name="tiny.bin"), "tiny.bin.sig")
    assert model(bench, "tiny.bin.sig")["status"] == "verified"
    assert bench.spec("tiny.bin.sig")["artifact"]["status"] == "matched"
    bench.put("tiny.bin", b"other")
    found = bench.facts("tiny.bin.sig", kind="SignatureBundle")
    assert found[0].spec["code"] == "subject_mismatch"


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "a/../config.json", "a//b", "./config.json", "a/"]
)
def test_names_that_lead_elsewhere_are_refused(bench: Workbench, name: str) -> None:
    sign(bench, statement({**FILES, name: b"x"}))
    assert model(bench)["code"] == "bad_statement"


@pytest.mark.parametrize("payload", [statement({}), statement(FILES, root="0" * 64)])
def test_a_list_that_is_none_is_refused(bench: Workbench, payload: bytes) -> None:
    sign(bench, payload)
    assert bench.spec("llama/model.sig")["code"] == "bad_statement"
    assert bench.facts("llama/model.sig", kind="SignedModel") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"algorithm": "sha256"', b'"algorithm": ["sha256"]'),
        (b'"algorithm": "sha256"', b'"algorithm": null'),
        (b'"name": "config.json"', b'"name": 5'),
        (b'"digest": "', b'"digest": "zz'),
        (b'"resources": [', b'"resources": [5, '),
    ],
)
def test_resources_that_are_none_are_refused(bench: Workbench, old: bytes, new: bytes) -> None:
    sign(bench, statement(FILES).replace(old, new, 1))
    assert bench.spec("llama/model.sig")["status"] in ("invalid", "could_not_check")


def test_other_ways_of_listing_are_not_supported(bench: Workbench) -> None:
    sign(bench, statement(FILES, method="shards"))
    assert (model(bench)["status"], model(bench)["code"]) == ("could_not_check", "unsupported_form")
    sign(bench, statement(FILES).replace(b'"algorithm": "sha256"', b'"algorithm": "md5"'))
    assert (model(bench)["status"], model(bench)["code"]) == ("could_not_check", "unsupported_hash")


def test_a_model_signed_with_a_key(bench: Workbench) -> None:
    team = ecdsa()
    bench.put("team.pub", team.pem)
    bench.config |= {
        "keys": [{"name": "team", "path": "team.pub"}],
        "policies": [{**OURS, "any_of": [{"name": "team", "key": "team"}]}],
    }
    bench.put("llama/model.sig", keyed_bundle(envelope=keyed_envelope(statement(FILES), team)))
    assert model(bench)["status"] == "verified"


def test_a_file_of_a_signed_model_is_signed(bench: Workbench) -> None:
    bench.config["policies"] = [{**OURS, "artifacts": ["*.json"], "required": True}]
    found = bench.spec("llama/config.json", kind="SignedArtifact")
    assert (found["status"], [one["file"] for one in found["signatures"]]) == ("verified", ["model.sig"])
    bench.put("llama/config.json", b"changed")
    assert bench.spec("llama/config.json", kind="SignedArtifact")["status"] == "unsigned"


def test_a_file_deep_in_a_signed_model_is_signed(bench: Workbench) -> None:
    bench.config["policies"] = [{**OURS, "artifacts": ["*.safetensors"], "required": True}]
    name = "llama/weights/a.safetensors"
    assert bench.spec(name, kind="SignedArtifact")["status"] == "verified"
    (bench.folder / "llama/model.sig").rename(bench.folder / "model.sig")
    assert bench.spec(name, kind="SignedArtifact")["status"] == "unsigned"


PLACES = {
    "v0.3.1-sigstore": "verified",
    "v1.0.0-sigstore": "verified",
    "v1.0.1-sigstore": "model_differs",  # a file that the signer left out without saying so
    "v1.1.0-sigstore": "verified",
    "v0.3.1-elliptic-key": "verified",
    "v1.0.0-elliptic-key": "verified",
    "v1.0.1-elliptic-key": "model_differs",
    "v1.1.0-elliptic-key": "verified",
    "v1.1.0-certificate": None,  # an authority of somebody's own, and no log
}


@pytest.mark.corpora
def test_models_signed_by_the_reference_library(tmp_path: Path) -> None:
    """Its own test models, of every version that it still reads."""
    models = shared_dir("corpora", "model-signing", "scripts", "tests")
    bench = Workbench(tmp_path)
    bench.config = {
        "keys": [{"name": "team", "path": str(models / "keys/certificate/signing-key-pub.pem")}],
        "policies": [{**OURS, "any_of": [{"name": "team", "key": "team"}, PERSON]}],
    }
    bench.now = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    found: dict[str, str | None] = {}
    for place in PLACES:
        shutil.copytree(models / place, tmp_path / place)
        facts = bench.facts(f"{place}/model.sig", kind="SignedModel")
        found[place] = facts[0].spec["code"] if facts else None
    assert found == PLACES
