"""Signatures made with plain keys, bare or in bundles."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from tests.signatures.image_builder import keyed_bundle, keyed_envelope, statement
from tests.signatures.signing import KINDS, Signing, ecdsa, rsa_pkcs1
from tests.signatures.sigstore_chain import NOW, b64, hashedrekord_body, new_key, sha256, sign
from tests.signatures.workbench import OURS, Workbench

DATA = b"weights of a model"
POLICY: dict[str, Any] = {"name": "keys", "artifacts": ["**"], "any_of": [{"name": "team", "key": "team"}]}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.put("model.bin", DATA)
    bench.config |= {"keys": [{"name": "team", "path": "team.pub"}], "policies": [POLICY]}
    return bench


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["raw", "base64", "bundle"])
def test_every_kind_of_key_verifies_its_own_and_nothing_else(bench: Workbench, kind: str, form: str) -> None:
    signing, stranger = KINDS[kind](), KINDS[kind]()

    def judge(maker: Signing, data: bytes) -> dict[str, Any]:
        signature = maker.sign(data)
        if form == "bundle":
            bundle = keyed_bundle(data=data, signing=maker)
            del bundle["messageSignature"]["messageDigest"]
            bench.put("model.bin.sigstore.json", bundle)
            return bench.spec("model.bin.sigstore.json")
        bench.put("model.bin.sig", signature if form == "raw" else base64.encodebytes(signature))
        return bench.spec("model.bin.sig")

    bench.put("team.pub", signing.pem)
    good = judge(signing, DATA)
    assert (good["status"], good["signature_valid"]) == ("verified", True)
    assert good["identity"]["key_name"] == "team"
    assert good["identity"]["key"]["algorithm"].startswith(kind.partition("-")[0])
    assert good["signed"] == [f"sha256:{sha256(DATA).hex()}"]
    assert good["artifact"] == {"status": "matched", "name": "model.bin"}
    assert judge(signing, b"other")["code"] == "no_configured_key_verifies"
    assert judge(stranger, DATA)["code"] == "no_configured_key_verifies"


def test_a_key_beside_the_file_proves_that_it_is_right_and_not_who_made_it(bench: Workbench) -> None:
    ours, theirs = ecdsa(), ecdsa()
    bench.put("team.pub", ours.pem)
    bench.put("model.bin.pub", theirs.pem)
    bench.put("model.bin.sig", theirs.sign(DATA))
    spec = bench.spec("model.bin.sig")
    assert (spec["status"], spec["code"]) == ("wrong_identity", "key_not_allowed")
    assert spec["identity"]["key_name"] is None


def test_a_configured_key_that_the_policy_does_not_name_is_not_allowed(bench: Workbench) -> None:
    team, other = ecdsa(), ecdsa()
    bench.put("team.pub", team.pem)
    bench.put("other.pub", other.pem)
    bench.config["keys"].append({"name": "other", "path": "other.pub"})
    bench.put("model.bin.sig", other.sign(DATA))
    spec = bench.spec("model.bin.sig")
    assert (spec["code"], spec["identity"]["key_name"]) == ("key_not_allowed", "other")


@pytest.mark.parametrize(
    ("pem", "code"),
    [
        (b"", "key_unreadable"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "key_unreadable"),
        (rsa_pkcs1(1024).pem, "key_unreadable"),
        (None, "key_unreadable"),
    ],
)
def test_a_key_that_is_no_use_leaves_the_question_open(
    bench: Workbench, pem: bytes | None, code: str
) -> None:
    if pem is not None:
        bench.put("team.pub", pem)
    bench.put("model.bin.sig", ecdsa().sign(DATA))
    spec = bench.spec("model.bin.sig")
    assert (spec["status"], spec["code"]) == ("could_not_check", code)


def test_without_keys_nothing_keyed_is_judged(bench: Workbench) -> None:
    bench.config = {}
    bench.put("model.bin.sig", ecdsa().sign(DATA))
    assert bench.spec("model.bin.sig")["code"] == "no_key_configured"
    bench.put("model.bin.sigstore.json", keyed_bundle(data=DATA, signing=ecdsa()))
    spec = bench.spec("model.bin.sigstore.json")
    assert (spec["status"], spec["code"]) == ("could_not_check", "no_key_configured")
    assert spec["form"]["material"] == "public key"
    assert spec["root"] is None


@pytest.mark.parametrize(
    "content",
    [
        b"-----BEGIN PGP SIGNATURE-----\n\naaaa\n-----END PGP SIGNATURE-----\n",
        b"-----BEGIN SSH SIGNATURE-----\naaaa\n",
        b"untrusted comment: minisign\nRWQ\n",
        b"\x89\x01\x33\x04\x00\x01",
        b"no signature at all",
    ],
)
def test_signatures_of_other_tools_are_not_supported(bench: Workbench, content: bytes) -> None:
    bench.put("team.pub", ecdsa().pem)
    bench.put("model.bin.sig", content)
    spec = bench.spec("model.bin.sig")
    assert (spec["status"], spec["code"]) == ("could_not_check", "unsupported_form")


def test_a_signature_of_a_missing_file_is_about_nothing(bench: Workbench) -> None:
    bench.put("team.pub", ecdsa().pem)
    bench.put("gone.bin.sig", ecdsa().sign(DATA))
    spec = bench.spec("gone.bin.sig")
    assert (spec["code"], spec["artifact"]["status"]) == ("no_artifact", "absent")


def test_a_certificate_beside_a_bare_signature_says_no_time(bench: Workbench) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bench.put("model.bin.sig", signing.sign(DATA))
    bench.put("model.bin.crt", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert bench.spec("model.bin.sig")["code"] == "certificate_without_log"


# ---- in bundles, with and without a log


def logged(bench: Workbench, signing: Signing, **change: Any) -> dict[str, Any]:
    bundle = keyed_bundle(data=DATA, signing=signing)
    signature = base64.b64decode(bundle["messageSignature"]["signature"])
    body = hashedrekord_body(change.get("data", DATA), signature, b64(change.get("pem", signing.pem)))
    bundle["verificationMaterial"]["tlogEntries"] = [bench.chain.entry(body, NOW)]
    return bundle


def test_a_log_entry_of_a_keyed_bundle_is_checked(bench: Workbench) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bench.config["policies"] = [{**POLICY, "require_log": True}]
    bench.put("model.bin.sigstore.json", logged(bench, signing))
    spec = bench.spec("model.bin.sigstore.json")
    assert (spec["code"], spec["log"]["index"], spec["time"]["source"]) == ("verified", 3, "log")


@pytest.mark.parametrize("change", [{"data": b"other"}, {"pem": ecdsa().pem}, {"pem": b"noise"}])
def test_a_log_entry_about_something_else_is_refused(bench: Workbench, change: dict[str, Any]) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bench.put("model.bin.sigstore.json", logged(bench, signing, **change))
    assert bench.spec("model.bin.sigstore.json")["code"] == "log_entry_differs"


def test_a_log_entry_of_another_log_is_refused(bench: Workbench) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bundle = logged(bench, signing)
    bundle["verificationMaterial"]["tlogEntries"][0]["logId"]["keyId"] = b64(b"0" * 32)
    bench.put("model.bin.sigstore.json", bundle)
    assert bench.spec("model.bin.sigstore.json")["code"] == "unknown_log"


def test_a_key_in_the_log_that_is_not_ours_is_a_stranger(bench: Workbench) -> None:
    bench.put("team.pub", ecdsa().pem)
    bench.put("model.bin.sigstore.json", logged(bench, ecdsa()))
    assert bench.spec("model.bin.sigstore.json")["code"] == "key_not_allowed"


def test_a_policy_may_want_the_log(bench: Workbench) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bench.config["policies"] = [{**POLICY, "require_log": True}]
    bench.put("model.bin.sigstore.json", keyed_bundle(data=DATA, signing=signing))
    spec = bench.spec("model.bin.sigstore.json")
    assert (spec["status"], spec["code"]) == ("wrong_identity", "not_in_log")


@pytest.mark.parametrize("bare", [True, False])
def test_an_envelope_is_verified_with_a_key_in_a_bundle_or_alone(bench: Workbench, bare: bool) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    envelope = keyed_envelope(statement(f"sha256:{sha256(DATA).hex()}", "https://example.test/v1"), signing)
    bench.put(
        "model.bin.intoto.jsonl", json.dumps(envelope if bare else keyed_bundle(envelope=envelope)).encode()
    )
    spec = bench.spec("model.bin.intoto.jsonl")
    assert spec["code"] == "verified"
    assert spec["statement"]["predicate_type"] == "https://example.test/v1"
    tampered = {**envelope, "payload": b64(statement("sha256:" + "0" * 64))}
    bench.put("model.bin.intoto.jsonl", json.dumps(tampered).encode())
    assert bench.spec("model.bin.intoto.jsonl")["code"] == "no_configured_key_verifies"


# ---- what ``cosign sign-blob --bundle`` wrote before there were bundles


def legacy(bench: Workbench, pem: bytes, signature: bytes, **change: Any) -> dict[str, Any]:
    entry = bench.chain.entry(hashedrekord_body(change.get("data", DATA), signature, b64(pem)), NOW)
    payload = {
        "body": entry["canonicalizedBody"],
        "integratedTime": int(entry["integratedTime"]),
        "logIndex": int(entry["logIndex"]),
        "logID": base64.b64decode(entry["logId"]["keyId"]).hex(),
    }
    promise = {"SignedEntryTimestamp": entry["inclusionPromise"]["signedEntryTimestamp"], "Payload": payload}
    return {"base64Signature": b64(signature), "cert": b64(pem), "rekorBundle": promise}


def test_the_old_form_with_a_certificate_is_verified(bench: Workbench) -> None:
    bench.config["policies"] = [OURS]
    key = new_key()
    pem = bench.chain.certificate(key).public_bytes(Encoding.PEM)
    bench.put("model.bin.bundle", legacy(bench, pem, sign(key, DATA)))
    spec = bench.spec("model.bin.bundle")
    assert (spec["code"], spec["form"]["version"], spec["signers"]) == (
        "verified",
        "cosign legacy",
        ["release"],
    )
    bench.put("model.bin.bundle", legacy(bench, pem, sign(key, DATA), data=b"other"))
    assert bench.spec("model.bin.bundle")["code"] == "log_entry_differs"
    bench.put("model.bin.bundle", legacy(bench, pem, sign(key, b"other")))
    assert bench.spec("model.bin.bundle")["code"] == "bad_signature"


def test_the_old_form_with_a_key_is_verified(bench: Workbench) -> None:
    team, stranger = ecdsa(), ecdsa()
    bench.put("team.pub", team.pem)
    for signing, code in ((team, "verified"), (stranger, "key_not_allowed")):
        bench.put("model.bin.bundle", legacy(bench, signing.pem, signing.sign(DATA)))
        assert bench.spec("model.bin.bundle")["code"] == code


@pytest.mark.parametrize("cut", ["rekorBundle", "cert", "base64Signature"])
def test_the_old_form_with_a_part_missing_is_no_pass(bench: Workbench, cut: str) -> None:
    key = new_key()
    bench.put("team.pub", ecdsa().pem)
    pem = bench.chain.certificate(key).public_bytes(Encoding.PEM)
    document = legacy(bench, pem, sign(key, DATA))
    document[cut] = None
    bench.put("model.bin.bundle", document)
    assert bench.spec("model.bin.bundle")["status"] == "invalid"


# ---- files that can't be looked at


def test_a_file_over_the_limit_is_not_hashed(bench: Workbench) -> None:
    signing = ecdsa()
    bench.put("team.pub", signing.pem)
    bench.put("model.bin.sig", signing.sign(DATA))
    bench.config["max_artifact_bytes"] = 3
    spec = bench.spec("model.bin.sig")
    assert (spec["status"], spec["code"]) == ("could_not_check", "artifact_too_large")


def test_ed25519_needs_the_file_in_memory(bench: Workbench) -> None:
    signing = KINDS["ed25519"]()
    bench.put("team.pub", signing.pem)
    bench.put("model.bin.sig", signing.sign(DATA))
    for limit, code in ((100, "verified"), (3, "artifact_too_large")):
        reader = next(one for one in bench.readers() if one.name == "detached signature")
        (facts,) = reader.read(bench.artifact("model.bin.sig", max_bytes=limit))
        assert facts.spec["code"] == code


@pytest.mark.parametrize("where", ["signature", "artifact"])
def test_what_can_not_be_opened_is_not_judged(bench: Workbench, where: str) -> None:
    from audit.collect.artifacts.signatures.contents import FileContent
    from audit.collect.artifacts.signatures.desk import Desk
    from audit.collect.artifacts.signatures.detached import check_detached

    desk = Desk(None, base=bench.folder, now=bench.now)
    bench.put("model.bin.sig", ecdsa().sign(DATA))
    signature = bench.folder / ("gone.sig" if where == "signature" else "model.bin.sig")
    bench.put("model.bin.pub", ecdsa().pem)
    content = FileContent(bench.folder / "gone", max_bytes=10, max_memory=10)
    assert check_detached(desk, signature, content, None).code == f"{where}_unreadable"
