"""Images on disk and what is attached to them, as cosign, docker and buildx leave them."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from audit.collect.artifacts.reading import UnreadError
from tests.signatures.image_builder import (
    COSIGN_SIGN,
    DSSE,
    OCI_INDEX,
    LayoutBuilder,
    keyed_bundle,
    keyed_envelope,
    statement,
    write_tar,
)
from tests.signatures.signing import Signing, ecdsa
from tests.signatures.sigstore_chain import NOW, b64, hashedrekord_body, new_key, sha256, sign
from tests.signatures.workbench import OURS, Workbench

POLICY: dict[str, Any] = {
    "name": "images",
    "artifacts": ["**"],
    "any_of": [{"name": "team", "key": "team"}],
    "required": True,
}


@pytest.fixture
def team() -> Signing:
    return ecdsa()


@pytest.fixture
def bench(tmp_path: Path, team: Signing) -> Workbench:
    bench = Workbench(tmp_path)
    bench.put("team.pub", team.pem)
    bench.config |= {"keys": [{"name": "team", "path": "team.pub"}], "policies": [POLICY]}
    return bench


Put = Callable[[Workbench, LayoutBuilder], str]


def as_folder(bench: Workbench, layout: LayoutBuilder) -> str:
    layout.write(bench.folder / "saved")
    return "saved"


def as_index_file(bench: Workbench, layout: LayoutBuilder) -> str:
    return f"{as_folder(bench, layout)}/index.json"


def as_archive(bench: Workbench, layout: LayoutBuilder) -> str:
    layout.archive(bench.folder / "saved.tar")
    return "saved.tar"


def as_packed_archive(bench: Workbench, layout: LayoutBuilder) -> str:
    layout.archive(bench.folder / "saved.tgz", packed=True)
    return "saved.tgz"


WAYS = [as_folder, as_index_file, as_archive, as_packed_archive]


def signed_by_referrer(layout: LayoutBuilder, image: str, signing: Signing, **options: Any) -> None:
    layout.referrer(image, keyed_bundle(envelope=keyed_envelope(statement(image), signing)), **options)


@pytest.mark.parametrize("put", WAYS)
def test_both_forms_of_cosign_are_verified(bench: Workbench, team: Signing, put: Put) -> None:
    layout = LayoutBuilder()
    image = layout.image(name="registry.test/app:v1")
    layout.simple_signature(image, team)
    signed_by_referrer(layout, image, team)
    spec = bench.spec(put(bench, layout), kind="ImageSignatures")
    assert (spec["status"], spec["digest"], spec["names"]) == ("verified", image, ["registry.test/app:v1"])
    assert sorted(one["form"]["version"] for one in spec["signatures"]) == ["0.3", "cosign simplesigning"]
    assert {one["code"] for one in spec["signatures"]} == {"verified"}
    assert {tuple(one["signed"]) for one in spec["signatures"]} == {(image,)}


@pytest.mark.parametrize("listed", [True, False])
def test_a_referrer_counts_whether_the_index_lists_it_or_not(
    bench: Workbench, team: Signing, listed: bool
) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    signed_by_referrer(layout, image, team, listed=listed)
    assert bench.spec(as_folder(bench, layout), kind="ImageSignatures")["status"] == "verified"


def test_an_image_without_signature_is_unsigned_where_one_is_required(bench: Workbench) -> None:
    layout = LayoutBuilder()
    layout.image()
    name = as_folder(bench, layout)
    spec = bench.spec(name, kind="ImageSignatures")
    assert (spec["status"], spec["required"], spec["signatures"]) == ("unsigned", True, [])
    bench.config["policies"] = [{**POLICY, "required": False}]
    assert bench.spec(name, kind="ImageSignatures")["required"] is False
    bench.config = {}
    spec = bench.spec(name, kind="ImageSignatures")
    assert (spec["status"], spec["required"], spec["policy"]) == ("unsigned", False, None)


def test_wrong_signatures_say_why(bench: Workbench, team: Signing) -> None:
    stranger = ecdsa()
    cases: dict[str, Callable[[LayoutBuilder, str], None]] = {
        "no_configured_key_verifies": lambda layout, image: layout.simple_signature(image, stranger),
        "image_mismatch": lambda layout, image: layout.simple_signature("sha256:" + "0" * 64, team),
        "malformed": lambda layout, image: layout.simple_signature(
            image, team, annotations={"dev.cosignproject.cosign/signature": "no base64"}
        ),
        "bad_certificate": lambda layout, image: layout.simple_signature(
            image, team, annotations={"dev.sigstore.cosign/certificate": "PEM"}
        ),
    }
    for number, (code, attach) in enumerate(cases.items()):
        layout = LayoutBuilder()
        attach(layout, layout.image())
        layout.write(bench.folder / f"case{number}")
        spec = bench.spec(f"case{number}", kind="ImageSignatures")
        assert spec["code"] == code
        assert [one["code"] for one in spec["signatures"]] == [code]


def test_a_payload_of_another_type_signs_nothing(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    payload = {"critical": {"image": {"docker-manifest-digest": image}, "type": "something else"}}
    layout.simple_signature(image, team, payload=payload)
    assert bench.spec(as_folder(bench, layout), kind="ImageSignatures")["code"] == "image_mismatch"


def test_a_statement_about_another_image_is_no_signature_of_this_one(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    other = keyed_bundle(envelope=keyed_envelope(statement("sha256:" + "0" * 64), team))
    layout.referrer(image, other)
    assert bench.spec(as_folder(bench, layout), kind="ImageSignatures")["code"] == "image_mismatch"


def test_a_blob_that_was_changed_is_seen(bench: Workbench, team: Signing) -> None:
    for part in ("signature", "image"):
        layout = LayoutBuilder()
        image = layout.image()
        layout.simple_signature(image, team)
        folder = layout.write(bench.folder / part)
        changed = (
            image if part == "image" else next(d for d, data in layout.blobs.items() if b"critical" in data)
        )
        path = folder / "blobs" / changed.replace(":", "/")
        path.write_bytes(path.read_bytes() + b" ")
        spec = bench.spec(part, kind="ImageSignatures")
        assert (spec["status"], spec["code"]) == ("invalid", "blob_differs")


def test_an_image_whose_manifest_is_not_there_is_not_judged(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    layout.simple_signature(image, team)
    del layout.blobs[image]
    spec = bench.spec(as_folder(bench, layout), kind="ImageSignatures")
    assert (spec["status"], spec["code"]) == ("could_not_check", "no_manifest_digest")
    assert spec["signatures"][0]["code"] == "verified"


def test_each_image_has_its_own_signatures(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    signed, bare, tagged = layout.image("a"), layout.image("b"), layout.image("c")
    signed_by_referrer(layout, signed, team)
    layout.simple_signature(tagged, team, attached_to=tagged)
    facts = bench.facts(as_archive(bench, layout), kind="ImageSignatures")
    assert {one.name.partition("#")[2]: one.spec["status"] for one in facts} == {
        signed: "verified",
        bare: "unsigned",
        tagged: "verified",
    }


def test_a_signature_of_one_image_moved_to_another_is_refused(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    good, bad = layout.image("a"), layout.image("b")
    layout.simple_signature(good, team, attached_to=bad)
    found = {one.spec["digest"]: one.spec["code"] for one in bench.facts(as_folder(bench, layout))}
    assert found == {good: "unsigned", bad: "image_mismatch"}


def test_what_can_be_run_is_judged_whatever_it_calls_itself(bench: Workbench) -> None:
    layout = LayoutBuilder()
    layout.image()
    layout.index[0]["annotations"] = {"kind": "dev.cosignproject.cosign/sigs"}
    assert bench.spec(as_folder(bench, layout), kind="ImageSignatures")["status"] == "unsigned"


def test_other_statements_are_no_signature(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    sbom = statement(image, "https://spdx.dev/Document")
    layout.referrer(image, keyed_bundle(envelope=keyed_envelope(sbom, team)))
    name = as_folder(bench, layout)
    spec = bench.spec(name, kind="ImageSignatures")
    assert (spec["status"], spec["signatures"]) == ("unsigned", [])
    assert [one["statement"]["predicate_type"] for one in spec["attestations"]] == [
        "https://spdx.dev/Document"
    ]
    bench.config["policies"] = [{**POLICY, "predicate_types": ["https://spdx.dev/Document", COSIGN_SIGN]}]
    assert bench.spec(name, kind="ImageSignatures")["status"] == "verified"


def test_an_attached_provenance_is_read(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    predicate = {"builder": {"id": "https://ci.test/builder"}, "buildType": "https://ci.test/type"}
    stated = statement(image, "https://slsa.dev/provenance/v0.2", predicate)
    layer = layout.json(keyed_envelope(stated, team), DSSE)
    layout.index.append({**layout.side([layer]), "annotations": {"kind": "dev.cosignproject.cosign/atts"}})
    spec = bench.spec(as_folder(bench, layout), kind="Provenance")
    assert (spec["status"], spec["builder_id"], spec["subjects"]) == (
        "verified",
        "https://ci.test/builder",
        [image],
    )


def test_a_keyless_bundle_of_an_image_is_verified(bench: Workbench) -> None:
    bench.config["policies"] = [OURS]
    layout = LayoutBuilder()
    image = layout.image()
    layout.referrer(image, bench.chain.bundle(statement(image), statement=True))
    spec = bench.spec(as_folder(bench, layout), kind="ImageSignatures")
    assert (spec["status"], spec["signatures"][0]["signers"]) == ("verified", ["release"])
    assert spec["root"]["source"] == "file"


def keyless(bench: Workbench, layout: LayoutBuilder, image: str, **how: Any) -> None:
    """What cosign wrote with a certificate before version 3: everything stands in annotations."""
    key = new_key()
    certificate = bench.chain.certificate(key, **how)
    payload = {
        "critical": {"image": {"docker-manifest-digest": image}, "type": "cosign container image signature"}
    }
    data = json.dumps(payload).encode()
    pem = certificate.public_bytes(Encoding.PEM)
    signing = Signing(key, sign)
    signature = signing.sign(data)
    entry = bench.chain.entry(hashedrekord_body(data, signature, b64(pem)), NOW + dt.timedelta(seconds=5))
    again = Signing(key, lambda *_: signature)
    layout.simple_signature(image, again, payload=payload, annotations=promised(pem, entry))


def promised(pem: bytes, entry: Any) -> dict[str, str]:
    promise = {
        "SignedEntryTimestamp": entry["inclusionPromise"]["signedEntryTimestamp"],
        "Payload": {
            "body": entry["canonicalizedBody"],
            "integratedTime": int(entry["integratedTime"]),
            "logIndex": int(entry["logIndex"]),
            "logID": base64.b64decode(entry["logId"]["keyId"]).hex(),
        },
    }
    return {
        "dev.sigstore.cosign/certificate": pem.decode(),
        "dev.sigstore.cosign/bundle": json.dumps(promise),
    }


def test_a_keyless_signature_in_annotations_is_verified(bench: Workbench) -> None:
    bench.config["policies"] = [OURS]
    layout = LayoutBuilder()
    image = layout.image()
    keyless(bench, layout, image)
    spec = bench.spec(as_folder(bench, layout), kind="ImageSignatures")
    assert (spec["status"], spec["signatures"][0]["signers"]) == ("verified", ["release"])
    assert spec["signatures"][0]["log"]["integrated_time"] == "2026-06-01T12:00:05+00:00"
    assert spec["root"]["source"] == "file"


def test_a_keyless_signature_in_annotations_is_refused_for_its_own_reason(bench: Workbench) -> None:
    bench.config["policies"] = [OURS]
    cases: dict[str, dict[str, Any]] = {
        "untrusted_certificate": {"ca_key": new_key()},
        "bad_sct": {"ct_key": new_key()},
        "missing_sct": {"published": False},
        "signed_after_expiry": {"life": 1},
        "identity_not_allowed": {"subject": "eve@evil.test"},
    }
    for code, how in cases.items():
        layout = LayoutBuilder()
        keyless(bench, layout, layout.image(), **how)
        layout.write(bench.folder / code)
        assert bench.spec(code, kind="ImageSignatures")["code"] == code


@pytest.mark.parametrize("version", ["0.0.1", "0.0.2"])
@pytest.mark.parametrize("wrong", ["", "payload", "certificate", "signature"])
def test_a_keyless_attestation_in_annotations(bench: Workbench, version: str, wrong: str) -> None:
    """Logged as the oldest kind of entry, which binds payload and certificate, and later the signature as well."""
    bench.config["policies"] = [OURS]
    layout, key = LayoutBuilder(), new_key()
    image = layout.image()
    pem = bench.chain.certificate(key).public_bytes(Encoding.PEM)
    envelope = keyed_envelope(statement(image, "https://slsa.dev/provenance/v1"), Signing(key, sign))
    payload = sha256(b"other" if wrong == "payload" else base64.b64decode(envelope["payload"])).hex()
    maker = bench.chain.certificate(key).public_bytes(Encoding.PEM) if wrong == "certificate" else pem
    logged = b64(sign(key, b"other")) if wrong == "signature" else envelope["signatures"][0]["sig"]
    hashed = {"algorithm": "sha256", "value": payload}
    spec: dict[str, Any] = {"content": {"hash": hashed, "payloadHash": hashed}, "publicKey": b64(maker)}
    if version == "0.0.2":
        signatures = [{"publicKey": b64(maker), "sig": b64(logged.encode())}]
        inner = {"payloadType": envelope["payloadType"], "signatures": signatures}
        spec = {"content": {"envelope": inner, "payloadHash": hashed}}
    entry = bench.chain.entry({"apiVersion": version, "kind": "intoto", "spec": spec}, NOW)
    layer = {**layout.json(envelope, DSSE), "annotations": promised(pem, entry)}
    layout.index.append({**layout.side([layer]), "annotations": {"kind": "dev.cosignproject.cosign/atts"}})
    image_spec = bench.spec(as_folder(bench, layout), kind="ImageSignatures")
    assert image_spec["status"] == "unsigned"
    (found,) = image_spec["attestations"]
    binds = wrong and (wrong, version) != ("signature", "0.0.1")
    assert found["code"] == ("log_entry_differs" if binds else "verified")


def test_an_index_of_platforms_is_signed_as_a_whole(bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    images = [layout.image(text, listed=False) for text in ("amd64", "arm64")]
    platforms = [
        {"digest": image, "platform": {"os": "linux", "architecture": text}}
        for image, text in zip(images, ("amd64", "arm64"), strict=True)
    ]
    attestation = {"digest": "sha256:" + "a" * 64, "platform": {"os": "unknown", "architecture": "unknown"}}
    index = layout.json({"schemaVersion": 2, "manifests": [*platforms, attestation]}, OCI_INDEX)
    layout.index.append(index)
    signed_by_referrer(layout, index["digest"], team)
    spec = bench.spec(as_folder(bench, layout), kind="ImageSignatures")
    assert (spec["status"], spec["digest"]) == ("verified", index["digest"])
    assert [one["platform"] for one in spec["platforms"]] == ["linux/amd64", "linux/arm64"]


def test_the_name_of_an_image_chooses_its_policy(bench: Workbench, team: Signing) -> None:
    bench.config["policies"] = [{**POLICY, "artifacts": ["registry.test/*"]}]
    layout = LayoutBuilder()
    signed_by_referrer(layout, layout.image(name="registry.test/app"), team)
    assert bench.spec(as_folder(bench, layout), kind="ImageSignatures")["status"] == "verified"
    bench.config["policies"] = [{**POLICY, "artifacts": ["elsewhere.test/*"]}]
    assert bench.spec("saved", kind="ImageSignatures")["code"] == "no_policy"


@pytest.mark.parametrize("put", WAYS)
def test_a_path_chooses_the_policy_and_only_the_images_in_it_must_be_signed(
    bench: Workbench, team: Signing, put: Put
) -> None:
    bench.config["policies"] = [{**POLICY, "artifacts": ["saved*"]}]
    layout = LayoutBuilder()
    signed_by_referrer(layout, layout.image(), team)
    facts = bench.facts(put(bench, layout))
    assert [(one.kind, one.spec["status"]) for one in facts] == [("ImageSignatures", "verified")]


@pytest.mark.parametrize(
    "index", [b"", b"no json", b"[]", b"{}", b'{"manifests": []}', b'{"manifests": [{"digest": "x"}]}']
)
def test_an_index_that_says_nothing_is_a_gap(bench: Workbench, index: bytes) -> None:
    layout = LayoutBuilder()
    layout.image()
    folder = layout.write(bench.folder / "saved")
    (folder / "index.json").write_bytes(index)
    with pytest.raises(UnreadError):
        bench.facts("saved")


# ---- docker save


def old_docker_archive(bench: Workbench) -> tuple[str, str]:
    config = json.dumps({"os": "linux"}).encode()
    digest = sha256(config).hex()
    manifest = [{"Config": f"{digest}.json", "RepoTags": ["app:v1"], "Layers": [f"{digest}/layer.tar"]}]
    files = {f"{digest}.json": config, "manifest.json": json.dumps(manifest).encode()}
    write_tar(bench.folder / "image.tar", files)
    return "image.tar", f"sha256:{digest}"


def test_an_old_docker_archive_has_an_image_id_and_no_digest(bench: Workbench) -> None:
    name, image_id = old_docker_archive(bench)
    spec = bench.spec(name, kind="ImageSignatures")
    assert (spec["digest"], spec["image_id"], spec["names"]) == (None, image_id, ["app:v1"])
    assert (spec["status"], spec["code"]) == ("could_not_check", "no_manifest_digest")


def test_a_newer_docker_archive_has_both(bench: Workbench) -> None:
    layout = LayoutBuilder()
    image = layout.image()
    config = json.loads(layout.blobs[image])["config"]["digest"]
    manifest = [{"Config": f"blobs/sha256/{config[7:]}", "RepoTags": ["app:v1"], "Layers": []}]
    write_tar(bench.folder / "image.tar", {**layout.files(), "manifest.json": json.dumps(manifest).encode()})
    spec = bench.spec("image.tar", kind="ImageSignatures")
    assert (spec["digest"], spec["image_id"], spec["names"]) == (image, config, ["app:v1"])
